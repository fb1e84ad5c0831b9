"""belief-gateway: shows a person what is believed about them, and lets them correct it."""

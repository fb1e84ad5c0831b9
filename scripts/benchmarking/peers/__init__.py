"""The servers that the gateway is measured against; each answers pages of the same beliefs."""

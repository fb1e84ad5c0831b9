"""The transports answer alike: each scenario is stated once and runs over both, on both adapters."""

"""Do the adapters agree, and do the parts that need a real server work?"""

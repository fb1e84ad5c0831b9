"""The pages for people: the memory browser, and GraphiQL for developers; both are clients of the API."""

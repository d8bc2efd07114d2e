"""The HTTP API: routes, authentication, the wire form of answers and errors."""

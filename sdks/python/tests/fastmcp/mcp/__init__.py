"""The part of the MCP SDK that the example of the README uses, with objects of the same shape."""

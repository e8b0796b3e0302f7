class CallToolResult:
    def __init__(self, data):
        self.data = data

    @classmethod
    def model_validate(cls, data):
        if not isinstance(data["content"], list):
            raise ValueError("content is not a list")
        return cls(data)

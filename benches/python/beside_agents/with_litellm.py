import json
import sys

from litellm import completion


def get_weather(city: str, days: int = 1) -> str:
    "Weather forecast."
    return f"{city}, {days} days: 18 degrees"


properties = {"city": {"type": "string"}, "days": {"type": "integer"}}
parameters = {"type": "object", "properties": properties, "required": ["city"]}
function = {"name": "get_weather", "description": "Weather forecast.", "parameters": parameters}
tools = [{"type": "function", "function": function}]
messages = [{"role": "user", "content": "Weather in Oslo?"}]
where = {"model": f"openai/{sys.argv[2]}", "api_base": sys.argv[1], "api_key": "-"}
while (message := completion(messages=messages, tools=tools, **where).choices[0].message).tool_calls:
    messages.append(message)
    for call in message.tool_calls:
        result = {"get_weather": get_weather}[call.function.name](**json.loads(call.function.arguments))
        messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
print(message.content)

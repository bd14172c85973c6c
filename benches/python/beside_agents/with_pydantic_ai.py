import sys

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


def get_weather(city: str, days: int = 1) -> str:
    "Weather forecast."
    return f"{city}, {days} days: 18 degrees"


model = OpenAIChatModel(sys.argv[2], provider=OpenAIProvider(base_url=sys.argv[1], api_key="-"))
print(Agent(model, tools=[get_weather]).run_sync("Weather in Oslo?").output)

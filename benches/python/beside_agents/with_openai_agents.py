import sys

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

set_tracing_disabled(True)


@function_tool
def get_weather(city: str, days: int = 1) -> str:
    "Weather forecast."
    return f"{city}, {days} days: 18 degrees"


model = OpenAIChatCompletionsModel(model=sys.argv[2], openai_client=AsyncOpenAI(base_url=sys.argv[1], api_key="-"))
agent = Agent(name="weather", tools=[get_weather], model=model)
print(Runner.run_sync(agent, "Weather in Oslo?").final_output)

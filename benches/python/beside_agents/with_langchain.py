import sys

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI


def get_weather(city: str, days: int = 1) -> str:
    "Weather forecast."
    return f"{city}, {days} days: 18 degrees"


agent = create_agent(ChatOpenAI(model=sys.argv[2], base_url=sys.argv[1], api_key="-"), [get_weather])
result = agent.invoke({"messages": [{"role": "user", "content": "Weather in Oslo?"}]})
print(result["messages"][-1].content)

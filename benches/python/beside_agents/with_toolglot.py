import sys

import toolglot


def get_weather(city: str, days: int = 1) -> str:
    "Weather forecast."
    return f"{city}, {days} days: 18 degrees"


client = toolglot.SyncClient(sys.argv[2], sys.argv[1])
print(client.run("Weather in Oslo?", [get_weather]).content)

"""Saves and loads the chat of PeerBenchmark.swift with another library, as its documentation shows.

Usage: peers.py LIBRARY LOCATION TURNS QUESTION ANSWER. Saves to SQLite in a folder, or to an empty database of PostgreSQL by its URL
(`postgres://…`). Prints the nanoseconds of each saved turn and of each load of the last 100 messages as JSON. The libraries:
pip install openai-agents langgraph langgraph-checkpoint-sqlite "google-adk[db]", and for PostgreSQL also "openai-agents[sqlalchemy]"
asyncpg langgraph-checkpoint-postgres "psycopg[binary]".
"""

import asyncio
import json
import os
import sys
import time

LOADS = 20


async def measure(save, load, turns):
    times = {"save": [], "load": []}
    for turn in range(turns):
        start = time.perf_counter_ns()
        await save(turn)
        times["save"].append(time.perf_counter_ns() - start)
    for _ in range(LOADS):
        start = time.perf_counter_ns()
        count = await load()
        times["load"].append(time.perf_counter_ns() - start)
        assert count == 100, count
    return times


def alchemy(location, name):
    """The URL for SQLAlchemy."""
    if location.startswith("postgres://"):
        return location.replace("postgres://", "postgresql+asyncpg://")
    return "sqlite+aiosqlite:///" + os.path.join(location, name)


async def openai_agents(location, turns, question, answer):
    if location.startswith("postgres://"):
        from agents.extensions.memory import SQLAlchemySession

        session = SQLAlchemySession.from_url("session", url=alchemy(location, ""), create_tables=True)
    else:
        from agents import SQLiteSession

        session = SQLiteSession("session", os.path.join(location, "agents.db"))

    async def save(turn):
        await session.add_items(
            [{"role": "user", "content": question}, {"role": "assistant", "content": answer}])

    async def load():
        return len(await session.get_items(limit=100))

    return await measure(save, load, turns)


def langgraph_saver(location):
    if location.startswith("postgres://"):
        from langgraph.checkpoint.postgres import PostgresSaver

        return PostgresSaver.from_conn_string(location)
    from langgraph.checkpoint.sqlite import SqliteSaver

    return SqliteSaver.from_conn_string(os.path.join(location, "langgraph.db"))


async def langgraph(location, turns, question, answer):
    from langchain_core.messages import AIMessage
    from langgraph.graph import END, START, MessagesState, StateGraph

    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [AIMessage(answer)]})
    graph.add_edge(START, "model")
    graph.add_edge("model", END)
    thread = {"configurable": {"thread_id": "session"}}
    with langgraph_saver(location) as saver:
        saver.setup()
        app = graph.compile(checkpointer=saver)

        async def save(turn):
            app.invoke({"messages": [("user", question)]}, thread, durability="sync")

        async def load():
            return len(app.get_state(thread).values["messages"][-100:])

        return await measure(save, load, turns)


async def google_adk(location, turns, question, answer):
    from google.adk.events import Event
    from google.adk.sessions import DatabaseSessionService
    from google.adk.sessions.base_session_service import GetSessionConfig
    from google.genai.types import Content, Part

    service = DatabaseSessionService(alchemy(location, "adk.db"))
    key = {"app_name": "bench", "user_id": "bench"}
    session = await service.create_session(**key, session_id="session")

    async def save(turn):
        for author, role, text in (("user", "user", question), ("agent", "model", answer)):
            event = Event(author=author, invocation_id=str(turn), content=Content(role=role, parts=[Part(text=text)]))
            await service.append_event(session, event)

    async def load():
        found = await service.get_session(
            **key, session_id="session", config=GetSessionConfig(num_recent_events=100))
        return len(found.events)

    return await measure(save, load, turns)


if __name__ == "__main__":
    library, location, turns, question, answer = sys.argv[1:]
    print(json.dumps(asyncio.run(globals()[library.replace("-", "_")](location, int(turns), question, answer))))

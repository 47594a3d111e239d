"""Saves and loads the chat of PeerBenchmark.swift with another library, as its documentation shows.

Usage: peers.py LIBRARY FOLDER TURNS QUESTION ANSWER. Prints the nanoseconds of each saved turn and of each load of the
last 100 messages as JSON. The libraries: pip install openai-agents langgraph langgraph-checkpoint-sqlite "google-adk[db]".
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


async def openai_agents(folder, turns, question, answer):
    from agents import SQLiteSession

    session = SQLiteSession("session", os.path.join(folder, "agents.db"))

    async def save(turn):
        await session.add_items(
            [{"role": "user", "content": question}, {"role": "assistant", "content": answer}])

    async def load():
        return len(await session.get_items(limit=100))

    return await measure(save, load, turns)


async def langgraph(folder, turns, question, answer):
    from langchain_core.messages import AIMessage
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.graph import END, START, MessagesState, StateGraph

    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [AIMessage(answer)]})
    graph.add_edge(START, "model")
    graph.add_edge("model", END)
    thread = {"configurable": {"thread_id": "session"}}
    with SqliteSaver.from_conn_string(os.path.join(folder, "langgraph.db")) as saver:
        app = graph.compile(checkpointer=saver)

        async def save(turn):
            app.invoke({"messages": [("user", question)]}, thread, durability="sync")

        async def load():
            return len(app.get_state(thread).values["messages"][-100:])

        return await measure(save, load, turns)


async def google_adk(folder, turns, question, answer):
    from google.adk.events import Event
    from google.adk.sessions import DatabaseSessionService
    from google.adk.sessions.base_session_service import GetSessionConfig
    from google.genai.types import Content, Part

    service = DatabaseSessionService("sqlite+aiosqlite:///" + os.path.join(folder, "adk.db"))
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
    library, folder, turns, question, answer = sys.argv[1:]
    print(json.dumps(asyncio.run(globals()[library.replace("-", "_")](folder, int(turns), question, answer))))

"""The floor of the import: Claude Code transcripts by json.loads and executemany into the tables of an empty history.

Usage: import_baseline.py FOLDER DATABASE. Prints how many messages it added.
"""

import json
import os
import sqlite3
import sys
from datetime import datetime

RENAMED = {"cwd": "workingDirectory", "gitBranch": "branch", "version": "version", "parentUuid": "parentId",
           "requestId": "requestId"}
PLACED = {"type", "uuid", "timestamp", "sessionId", "agentId", "message", "content"}


def text_of(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def strings(value, into):
    if isinstance(value, str):
        into.append(value[:65536])
    elif isinstance(value, dict):
        for member in value.values():
            strings(member, into)
    elif isinstance(value, list):
        for element in value:
            strings(element, into)


def parts_of(content, searched):
    """Parts as a history keeps them; adds the strings that are searched."""
    if isinstance(content, str):
        searched.append(content)
        return [{"text": {"_0": content}}]
    parts = []
    for block in content or []:
        kind = block.get("type")
        if kind == "text":
            searched.append(block["text"])
            parts.append({"text": {"_0": block["text"]}})
        elif kind == "thinking":
            searched.append(block["thinking"])
            parts.append({"thinking": {"_0": block["thinking"], "signature": block.get("signature")}})
        elif kind == "tool_use":
            searched.append(block["name"])
            strings(block["input"], searched)
            parts.append({"toolCall": {"id": block["id"], "name": block["name"], "arguments": block["input"]}})
        elif kind == "tool_result":
            strings(block.get("content"), searched)
            parts.append({"toolResult": {"id": block["tool_use_id"], "content": block.get("content")}})
        else:
            parts.append({"unknown": block})
    return parts


def metadata_of(line, message):
    metadata, others = {}, {}
    for name, value in line.items():
        if value is not None and name not in PLACED:
            if name in RENAMED:
                metadata[RENAMED[name]] = value
            else:
                others[name] = value
    for name, value in message.items():
        if value is not None and name not in ("content", "role", "type"):
            metadata[name] = value
    if others:
        metadata["claudeCode"] = others
    return text_of(metadata)


def transcripts(folder):
    for path, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            if name.endswith(".jsonl"):
                yield os.path.join(path, name)


def main(folder, path):
    database = sqlite3.connect(path)
    database.execute("PRAGMA synchronous = FULL")
    sessions, scopes, counts, seen = {}, {}, {}, set()
    messages, documents = [], []
    for file in transcripts(folder):
        name = os.path.basename(file)[:-len(".jsonl")]
        with open(file, encoding="utf-8") as lines:
            for text in lines:
                line = json.loads(text)
                role = line.get("type")
                if role not in ("user", "assistant", "system"):
                    continue
                session = line.get("sessionId", name)
                agent = line.get("agentId") or (name[6:] if name.startswith("agent-") else "claude")
                number = sessions.setdefault(session, len(sessions) + 1)
                scope = scopes.setdefault((number, agent), len(scopes) + 1)
                if (scope, line["uuid"]) in seen:
                    continue
                seen.add((scope, line["uuid"]))
                timestamp = int(datetime.fromisoformat(line["timestamp"].replace("Z", "+00:00")).timestamp() * 1000)
                first, last, count = counts.get(number, (timestamp, timestamp, 0))
                counts[number] = (first, max(last, timestamp), count + 1)
                message, searched = line.get("message", {}), []
                parts = parts_of(message.get("content", line.get("content")), searched)
                prose = parts[0]["text"]["_0"] if len(parts) == 1 and "text" in parts[0] else None
                sequence = len(messages) + 1
                messages.append((sequence, number, scope, sequence << 20, timestamp, role, line["uuid"],
                                 metadata_of(line, message), prose, None if prose is not None else text_of(parts)))
                owner = f"_u1 _c{number} _a{scope} _r{role} _t{timestamp >> 31}"
                documents.append((sequence, owner + " " + "\n".join(searched)[:1 << 20]))
    with database:
        database.executemany(
            "INSERT INTO session (id, user_id, session_id, created_at, last_activity, message_count) "
            "VALUES (?, 'bench', ?, ?, ?, ?)",
            [(number, session, *counts[number]) for session, number in sessions.items()])
        database.executemany(
            "INSERT INTO scope (id, session_row_id, agent_id, window_start) VALUES (?, ?, ?, 0)",
            [(scope, number, agent) for (number, agent), scope in scopes.items()])
        database.executemany(
            "INSERT INTO message (sequence, session_row_id, scope_row_id, position, timestamp, role, message_id, metadata, "
            "text, parts) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", messages)
        database.executemany(
            "INSERT INTO message_id (scope_row_id, message_id, sequence) VALUES (?, ?, ?)",
            [(row[2], row[6], row[0]) for row in messages])
        database.execute("UPDATE derived_data SET through = ?", (len(messages),))
        database.executemany("INSERT INTO message_search (rowid, body) VALUES (?, ?)", documents)
        database.execute("UPDATE search_state SET indexed_through = ?", (len(messages),))
    database.close()
    print(len(messages))


main(sys.argv[1], sys.argv[2])

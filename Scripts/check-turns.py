#!/usr/bin/env python3
"""Checks the histories of a run with faults, independently of Recollect.

    check-turns.py LOGS PSQL…

LOGS is a folder with the lines that the servers printed (`*.turns`: see Tests/RecollectTestWorker/PostgresTurns.swift), and those of a
reader of the change feed (`feed`: `added SEQUENCE SESSION MESSAGE`). PSQL… is a command that runs SQL on the database.

Proves, or names each difference: every acknowledged message is stored, once, and none that no server sent; a session has the messages
of a task in the order of their acknowledgment; a turn acknowledged in its first attempt has no message of another turn inside; the
feed has every message once, in increasing order.
"""

import glob
import os
import subprocess
import sys

faults = []


def lines(path):
    with open(path, encoding="utf-8") as file:
        # A killed process may leave half a line.
        return [line.split() for line in file.read().split("\n")[:-1] if line]


def stored(command):
    sql = """
        SELECT encode(session_id, 'escape'), encode(message_id, 'escape'), sequence FROM recollect.message
        JOIN recollect.session USING (user_id, session) ORDER BY session_id, position
    """
    output = subprocess.run(command + ["-X", "-A", "-t", "-F", " ", "-c", sql], check=True, capture_output=True, text=True)
    return [(session, message, int(sequence)) for session, message, sequence in map(str.split, output.stdout.splitlines())]


def main():
    logs, command = sys.argv[1], sys.argv[2:]
    rows = stored(command)
    places = {}
    sessions = {}
    for session, message, _ in rows:
        if message in places:
            faults.append(f"{message} is stored twice")
        messages = sessions.setdefault(session, [])
        places[message] = (session, len(messages))
        messages.append(message)

    sent = set()
    saved = 0
    whole = 0
    repeated = 0
    for path in sorted(glob.glob(os.path.join(logs, "*.turns"))):
        attempts = {}
        last = {}
        for line in lines(path):
            kind, session, subject = line[:3]
            if kind == "begin":
                attempts[subject] = attempts.get(subject, 0) + 1
                repeated += attempts[subject] == 2
                sent.update((subject + "-q", subject + "-a"))
            elif kind == "saved":
                saved += 1
                place = places.get(subject)
                if place is None or place[0] != session:
                    faults.append(f"{subject} was acknowledged and is not in {session}")
                    continue
                task = (session, subject.rsplit("-", 2)[0])
                # The first attempt of a repeated turn may have saved the question before.
                if place[1] < last.get(task, -1):
                    faults.append(f"{subject} is stored before an earlier message of its task")
                last[task] = place[1]
            elif kind == "end" and attempts[subject] == 1:
                whole += 1
                first = places.get(subject + "-q")
                if first is None or places.get(subject + "-a") != (session, first[1] + 1):
                    faults.append(f"the turn {subject} has other messages inside")
            elif kind == "given":
                faults.append(f"the turn {line[3]} was given up")
    faults.extend(f"{message} was never sent" for message in sorted(places.keys() - sent))

    sequences = {(session, message): sequence for session, message, sequence in rows}
    position = -1
    seen = set()
    for _, sequence, session, message in lines(os.path.join(logs, "feed")):
        if int(sequence) <= position:
            faults.append(f"the feed goes back from {position} to {sequence}")
        position = int(sequence)
        if sequences.get((session, message)) != position or (session, message) in seen:
            faults.append(f"the feed has {message} of {session} as {sequence}, and it is not stored so, or was there before")
        seen.add((session, message))
    faults.extend(f"the feed lacks {message} of {session}" for session, message in sorted(sequences.keys() - seen))

    for fault in faults[:50]:
        print(fault)
    print(f"{saved} acknowledged, {len(rows)} stored, {whole} turns in one attempt, {repeated} repeated, {len(faults)} faults")
    # Without a single message, nothing is proved.
    sys.exit(1 if faults or not rows or not whole else 0)


main()

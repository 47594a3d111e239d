#!/usr/bin/env python3
"""Compares TokenCounter.estimate with the tokenizers of four model families.

    pip install tiktoken tokenizers litellm
    Benchmarks/token-estimate.py ~/.claude/projects/*/*.jsonl

litellm has the files of the tokenizers, so nothing is downloaded from model hubs. Without arguments, only the texts
below are compared. Each number is the estimate divided by the tokenizer's count: above 1, the estimate is too high.
"""
import importlib.util
import json
import os
import sys

folder = os.path.join(
    os.path.dirname(importlib.util.find_spec("litellm").origin), "litellm_core_utils", "tokenizers")
os.environ["TIKTOKEN_CACHE_DIR"] = folder
import tiktoken
from tokenizers import Tokenizer

TEXTS = {
    "German": "Die Fähre fährt um acht Uhr ab, und wir sollten mindestens eine halbe Stunde vorher am Hafen sein, weil"
    " die Schlange im Sommer lang werden kann. Vergiss die Ausweise nicht. ",
    "Russian": "Паром отправляется в восемь часов, и нам следует быть в порту как минимум за полчаса, потому что летом"
    " очередь может быть длинной. Не забудь документы. ",
    "Chinese": "渡轮八点出发，我们至少应该提前半小时到达港口，因为夏天排队的人可能很多。别忘了带上身份证件。",
    "Japanese": "フェリーは八時に出発しますので、少なくとも三十分前には港に着いているべきです。身分証明書を忘れないでください。",
    "Korean": "페리는 여덟 시에 출발하니 적어도 삼십 분 전에는 항구에 도착해야 합니다. 신분증을 잊지 마세요. ",
    "Arabic": "تغادر العبارة في الساعة الثامنة، وينبغي أن نكون في الميناء قبل نصف ساعة على الأقل. لا تنس بطاقات الهوية. ",
    "Hindi": "नौका आठ बजे रवाना होती है और हमें कम से कम आधा घंटा पहले बंदरगाह पर होना चाहिए। ",
    "emoji": "🎉🚀👍🏽 great 👩‍👩‍👧‍👦 ❤️ 😂😂 ",
}


def estimate(text):
    """The same rule as TokenCounter.estimate for a text."""
    twelfths = 0
    for byte in text.encode():
        if byte == 0x20 or (byte < 0x80 and chr(byte).isalpha()):
            twelfths += 3
        elif byte < 0x80:
            twelfths += 6
        elif byte >= 0xF0:
            twelfths += 12
        else:
            twelfths += 4
    return (twelfths + 11) // 12


def texts_of(path):
    """The texts, tool calls and tool results of a Claude Code transcript."""
    for line in open(path, encoding="utf-8"):
        try:
            content = json.loads(line).get("message", {}).get("content")
        except (ValueError, AttributeError):
            continue
        if isinstance(content, str):
            yield "prose", content
        for part in content if isinstance(content, list) else []:
            if part.get("type") == "text":
                yield "prose", part["text"]
            elif part.get("type") == "tool_use":
                yield "tool calls", json.dumps(part["input"])
            elif part.get("type") == "tool_result":
                result = part.get("content") or ""
                yield "tool results", result if isinstance(result, str) else "".join(p.get("text", "") for p in result)


texts = {}
for path in sys.argv[1:]:
    for kind, text in texts_of(path):
        if len(texts.get(kind, "")) < 500_000:
            texts[kind] = texts.get(kind, "") + text + "\n"
texts.update({name: text * 3 for name, text in TEXTS.items()})
counters = {}
for name in ("cl100k_base", "o200k_base"):
    counters[name] = lambda text, encoding=tiktoken.get_encoding(name): len(encoding.encode(text, disallowed_special=()))
for name in ("anthropic", "deepseek"):
    tokenizer = Tokenizer.from_file(os.path.join(folder, name + "_tokenizer.json"))
    counters[name] = lambda text, tokenizer=tokenizer: len(tokenizer.encode(text).ids)
print("%-14s %9s" % ("", "estimate") + "".join("%13s" % name for name in counters))
for name, text in texts.items():
    count = estimate(text)
    print("%-14s %9d" % (name, count) + "".join("%13.2f" % (count / counter(text)) for counter in counters.values()))

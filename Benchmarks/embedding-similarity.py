#!/usr/bin/env python3
"""Answers questions about the similarity of texts with static embeddings, for a reranked search.

    pip install wordllama
    make bench ARGS="recall --similarity Benchmarks/embedding-similarity.py"

The package has its embeddings (256 dimensions), so nothing is downloaded from model hubs. Each line of the input is a
JSON object with `query` and `texts`, each line of the output an array of cosine similarities.
"""
import json
import os
import sys

import wordllama

# The folder of the package also has the tokenizer, but is not searched for it by default.
model = wordllama.WordLlama.load(cache_dir=os.path.dirname(wordllama.__file__), disable_download=True)
for line in sys.stdin:
    asked = json.loads(line)
    vectors = model.embed([asked["query"]] + asked["texts"], norm=True)
    print(json.dumps([float(vectors[0] @ vector) for vector in vectors[1:]]), flush=True)

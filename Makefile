# `make run` demonstrates Recollect; `make test` runs the same checks as CI. Each target is a script or one command.

.PHONY: help run test quick soak failover mutations shake faults lint bench up down format doc map clean
.DEFAULT_GOAL := help

SOURCES = Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources \
	Samples/AgentSquadGuides/Package.swift Samples/AgentSquadGuides/Sources Samples/AgentSquadGuides/Tests \
	Samples/SessionStorageGuide/Package.swift Samples/SessionStorageGuide/Sources Samples/SessionStorageGuide/Tests

export FROM STORE SEARCH MINUTES SEED SCENARIO POINT RUN LIMIT CONFIGURATION PORT TURNS

help:
	@echo 'make run      build recall, import transcripts, list and search them'
	@echo '                FROM=path     Claude Code transcripts, such as ~/.claude/projects (default: the samples)'
	@echo '                STORE=dir     the store (default: .recall)'
	@echo '                SEARCH=words  the search'
	@echo 'make test     run the same checks as CI'
	@echo '                STEPS=…       only some of: lint dependencies plain samples tests'
	@echo 'make quick    run the tests without processes, disks and long running times'
	@echo 'make soak     run the tests with random input or processes, with new seeds'
	@echo '                MINUTES=…     the duration (default: 30)'
	@echo '                NAMES=…       regular expressions of tests (default: all)'
	@echo 'make failover run turns of three servers during a failover of PostgreSQL, and check what is stored'
	@echo '                TURNS=…       the number of turns (default: 10000)'
	@echo 'make mutations'
	@echo '              break one rule after the other, and check that its tests fail'
	@echo '                NAMES=…       prefixes of names in Tests/Mutations (default: all)'
	@echo 'make shake    run the tests with random delays of tasks (Linux)'
	@echo '                NAMES=…       regular expressions of tests (default: all)'
	@echo '                TIMES=…       the runs of each test target (default: 10)'
	@echo 'make faults   crash and damage small stores, and search for lost data'
	@echo '                MINUTES=…     the duration (default: 1); each round uses new seeds'
	@echo '                SEED=…        the first seed; repeats a fault with SCENARIO=… and POINT=… or RUN=…'
	@echo 'make lint     check the format, the patches, the folders, the code map and the prose'
	@echo 'make format   format the sources'
	@echo 'make bench    run the benchmarks; ARGS=… for options, ARGS=--help lists them'
	@echo 'make up       start a PostgreSQL server for trying things out; make down stops it'
	@echo '                PORT=…        its port (default: 5480)'
	@echo 'make doc      build the documentation in .build-doc'
	@echo 'make map      write docs/code-map.md'
	@echo 'make clean    remove all builds; a store in .recall stays'

run:
	@Scripts/run.sh

test:
	@Scripts/test.sh $(STEPS)

quick:
	@Scripts/test.sh quick

soak:
	@MINUTES=$(MINUTES) Scripts/soak.sh $(NAMES)

failover:
	@Scripts/failover.sh

mutations:
	@Scripts/mutations.sh $(NAMES)

shake:
	@TIMES=$(TIMES) Scripts/shake.sh $(NAMES)

faults:
	@Scripts/faults.sh

lint:
	@Scripts/test.sh lint

bench:
	swift run -c release --package-path Benchmarks --traits Postgres RecollectBenchmarks $(ARGS)

up:
	@Scripts/up.sh

down:
	@Scripts/up.sh --stop

format:
	swift format --in-place --recursive --parallel $(SOURCES)

doc:
	@Scripts/doc.sh

map:
	@Scripts/map.sh

clean:
	rm -rf .build .build-tests .build-optimized .build-plain .build-doc .build-mutations Benchmarks/.build Samples/AgentSquadGuides/.build \
		Samples/SessionStorageGuide/.build

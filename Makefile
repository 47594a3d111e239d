# `make run` shows Recollect at work; `make test` runs all that CI runs. Each target is a script or one command.

.PHONY: help run test quick soak mutations shake faults lint bench format doc map clean
.DEFAULT_GOAL := help

SOURCES = Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources \
	Samples/AgentSquadGuides/Package.swift Samples/AgentSquadGuides/Sources Samples/AgentSquadGuides/Tests \
	Samples/SessionStorageGuide/Package.swift Samples/SessionStorageGuide/Sources Samples/SessionStorageGuide/Tests

export FROM STORE SEARCH MINUTES SEED SCENARIO POINT RUN LIMIT CONFIGURATION

help:
	@echo 'make run      build recall, import transcripts, list and search them'
	@echo '                FROM=path     Claude Code transcripts, ~/.claude/projects for instance (else the samples here)'
	@echo '                STORE=dir     where the store lies (else .recall)'
	@echo '                SEARCH=words  what to search for'
	@echo 'make test     all that CI runs'
	@echo '                STEPS=…       some of: lint dependencies plain samples tests'
	@echo 'make quick    the tests that need no processes, no disks and little time: after each edit'
	@echo 'make soak     run the tests of random input, and those with processes, with new seeds'
	@echo '                MINUTES=…     how long, else 30'
	@echo '                NAMES=…       some tests, by regular expressions'
	@echo 'make mutations'
	@echo '              break rules on purpose, and look whether their tests turn red'
	@echo '                NAMES=…       some of Tests/Mutations, by their names or beginnings of them'
	@echo 'make shake    run the tests while tasks wait at random before they run (Linux)'
	@echo '                NAMES=…       some tests, by regular expressions'
	@echo '                TIMES=…       how often each runs, else 10'
	@echo 'make faults   crash and damage small stores, and look for what is lost'
	@echo '                MINUTES=…     how long, else one minute; each round draws new seeds'
	@echo '                SEED=…        the first seed; with SCENARIO=… and POINT=… or RUN=… it repeats a fault'
	@echo 'make lint     the format, the patches, the folders and the code map'
	@echo 'make format   format the sources'
	@echo 'make bench    measure, in release mode; ARGS=… for options, ARGS=--help tells them'
	@echo 'make doc      the documentation, into .build-doc'
	@echo 'make map      write docs/code-map.md anew'
	@echo 'make clean    remove what was built; a store in .recall stays'

run:
	@Scripts/run.sh

test:
	@Scripts/test.sh $(STEPS)

quick:
	@Scripts/test.sh quick

soak:
	@MINUTES=$(MINUTES) Scripts/soak.sh $(NAMES)

mutations:
	@Scripts/mutations.sh $(NAMES)

shake:
	@TIMES=$(TIMES) Scripts/shake.sh $(NAMES)

faults:
	@Scripts/faults.sh

lint:
	@Scripts/test.sh lint

bench:
	swift run -c release --package-path Benchmarks RecollectBenchmarks $(ARGS)

format:
	swift format --in-place --recursive $(SOURCES)

doc:
	@Scripts/doc.sh

map:
	@Scripts/map.sh

clean:
	rm -rf .build .build-plain .build-doc .build-mutations Benchmarks/.build Samples/AgentSquadGuides/.build \
		Samples/SessionStorageGuide/.build

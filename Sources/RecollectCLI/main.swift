#if CommandLine
    await Recall.start()
#else
    // The package builds without the command line's dependencies; what stands here then only says so.
    print("recall was built without its commands; build it with: swift build -c release --traits CommandLine")
#endif

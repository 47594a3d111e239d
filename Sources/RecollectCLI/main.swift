#if CommandLine
    await Recall.start()
#else
    import Foundation

    // The package builds without the command line's dependencies; what stands here then only says so.
    let advice = "recall was built without its commands; build it with: swift build -c release --traits CommandLine\n"
    FileHandle.standardError.write(Data(advice.utf8))
    exit(1)
#endif

/// Starts `recall`, or prints how to build it with its commands.
#if CommandLine
    await Recall.start()
#else
    import Foundation

    // The package builds without the dependencies of the command line. The program then only prints this advice.
    let advice = "recall was built without its commands; build it with: swift build -c release --traits CommandLine\n"
    FileHandle.standardError.write(Data(advice.utf8))
    exit(1)
#endif

import RecollectTesting

/// Prints what became of every check; gives the exit code of a program that does nothing else.
func prove() async -> Int32 {
    let report = await ChatStorageConformance.report(includingLong: false) { NotebookChatStorage() }
    print(report)
    return report.isConforming ? 0 : 1
}

import RecollectTesting

/// Prints the result of every check, and returns an exit code.
func prove() async -> Int32 {
    let report = await ChatStorageConformance.report(includingLong: false) { NotebookChatStorage() }
    print(report)
    return report.isConforming ? 0 : 1
}

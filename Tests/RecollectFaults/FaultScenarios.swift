import RecollectTesting

/// All scenarios, by what they need.
package enum FaultScenarios {
    /// Those of one process that are quick.
    package static let all: [CrashScenario] = [
        HistoryUse.savingTurns, HistoryUse.savingRelaxed, HistoryUse.openingAndClosing, HistoryUse.attachments,
        HistoryUse.importing, HistoryUse.replies, HistoryUse.deletion,
    ]

    package static func named(_ name: String) -> CrashScenario? { all.first { $0.name == name } }
}

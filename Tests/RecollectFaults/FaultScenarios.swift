import RecollectTesting

/// All scenarios.
package enum FaultScenarios {
    /// Crash scenarios.
    package static let crashes: [CrashScenario] =
        [
            HistoryUse.firstOpening, HistoryUse.foreignFolder, HistoryUse.savingTurns, HistoryUse.savingRelaxed,
            HistoryUse.openingAndClosing,
            HistoryUse.attachments, HistoryUse.unsyncedPicture, HistoryUse.unsyncedFolder,
            HistoryUse.importing, HistoryUse.replies, HistoryUse.deletion, HistoryUse.deletionRelaxed,
            HistoryUse.concurrentTrims, HistoryUse.savingAndClosing,
        ] + HistoryUse.salvages + FilesUse.all + [
            HistoryUse.twoSavers, HistoryUse.saverAndOpener, HistoryUse.saverAndRepairer, HistoryUse.twoNames,
            HistoryUse.removedLog, HistoryUse.salvagedTwice,
        ] + HistoryUse.oneIsKilled

    /// Damage scenarios.
    package static let damages: [DamageScenario] = [HistoryUse.damage, FilesUse.damage]
}

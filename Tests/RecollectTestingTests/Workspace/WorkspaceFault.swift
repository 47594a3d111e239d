import Foundation
import RecollectCore
import RecollectTesting
import RecollectWorkspace

/// A fault of a workspace provider, with the name of its check as the raw value.
enum WorkspaceFault: String, NamedFault {
    case takesEmptyForNothing = "write.createsFileAndFolders"
    case neverReplaces = "write.replacesExpectedVersion"
    case ignoresReplacing = "write.rejectsStaleVersion"
    case takesNothingForAnything = "write.rejectsExistingFile"
    case makesWhatIsGone = "write.rejectsMissingFile"
    case leavesItsStagedFile = "write.leavesNoOtherFiles"
    case saysNotFoundOfFolders = "write.rejectsFileFolderConflict"
    case readsWithoutLimit = "read.enforcesSizeLimit"
    case readsNothingAsEmpty = "read.missingFileIsNotFound"

    case comparesThenWrites = "race.oneWriterWins"
    case showsOldContentInMismatches = "race.noWriteIsLost"
    case removesThenWrites = "race.readersSeeCompleteFiles"

    case listsAllLevels = "list.oneLevel"
    case listsMissingFoldersAsEmpty = "list.missingFolderIsNotFound"
    case forgetsSizesOfListedItems = "list.matchesItemLookup"
    case stampsBySize = "list.stampsChangeWithContent"
    case listsTemporaryFiles = "list.omitsTemporaryFiles"
    case hidesConflictCopies = "list.includesConflictCopies"
    case takesTheFileForAVersion = "list.noVersionsWithoutConflict"

    case cutsLongNames = "name.keepsEveryName"
    case findsComposedNamesAlone = "name.findsDecomposedNames"
    case writesOverCollision = "name.collisionsNeverOverwrite"

    case removesWithTheFolder = "remove.removesOnlyTheFile"
    case removesWithoutComparing = "remove.rejectsStaleVersion"
    case takesTheGoneForRemoved = "remove.rejectsMissingFile"
    case removesFoldersWithTheirFiles = "remove.removesOnlyEmptyFolders"

    case hidesEvictedFiles = "evicted.isListed"
    case downloadsWhenReading = "evicted.readingDoesNotDownload"
    case takesEvictedForAbsent = "evicted.isNotOverwritten"
    case refusesToDownloadTwice = "evicted.downloadCanBeRequested"

    case signalsForeignChangesAlone = "changeSignal.afterOwnWrites"
    case signalsOwnChangesAlone = "changeSignal.afterForeignWrites"
    case signalsExistingFoldersAlone = "changeSignal.afterWritesInNewFolders"
    case signalsOneListener = "changeSignal.afterRemovals"

    case takesAGoneRootForAnEmptyOne = "root.missingIsUnavailable"

    case appendsToLineageFiles = "lineage.roundTrips"

    /// The name of the check required to fail.
    var caughtBy: String { rawValue }
}

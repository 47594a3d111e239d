import Foundation
import RecollectCore
import RecollectTesting
import RecollectWorkspace

/// A fault of a workspace provider, with the name of its check as the raw value.
enum WorkspaceFault: String, NamedFault {
    case takesEmptyForNothing = "write.makesFileAndFolders"
    case neverReplaces = "write.replacesWhatIsKnown"
    case ignoresReplacing = "write.refusesWhatIsStale"
    case takesNothingForAnything = "write.refusesWhatIsThere"
    case makesWhatIsGone = "write.refusesWhatIsGone"
    case leavesItsStagedFile = "write.leavesNothingBeside"
    case saysNotFoundOfFolders = "write.refusesWhatIsInTheWay"
    case readsWithoutLimit = "read.isBounded"
    case readsNothingAsEmpty = "read.namesWhatIsNotThere"

    case comparesThenWrites = "race.oneWriterWins"
    case showsOldContentInMismatches = "race.noneIsLost"
    case removesThenWrites = "race.readersSeeWholeFiles"

    case listsAllLevels = "list.oneLevel"
    case listsMissingFoldersAsEmpty = "list.namesMissingFolders"
    case forgetsSizesOfListedItems = "list.itemsAreAsListed"
    case stampsBySize = "list.stampsChangeWithContent"
    case listsTemporaryFiles = "list.leavesOutWhatIsNoWorkspaces"
    case hidesConflictCopies = "list.showsConflictCopies"
    case takesTheFileForAVersion = "list.hasNoVersionsWithoutConflict"

    case cutsLongNames = "name.keepsEveryName"
    case findsComposedNamesAlone = "name.findsDecomposedNames"
    case writesOverCollision = "name.collisionsStayApartOrOne"

    case removesWithTheFolder = "remove.removesTheFileAlone"
    case removesWithoutComparing = "remove.refusesWhatIsStale"
    case takesTheGoneForRemoved = "remove.namesWhatIsGone"
    case removesFoldersWithTheirFiles = "remove.takesEmptyFoldersAlone"

    case hidesEvictedFiles = "evicted.isListed"
    case downloadsWhenReading = "evicted.readingStartsNoDownload"
    case takesEvictedForAbsent = "evicted.isNotOverwritten"
    case refusesToDownloadTwice = "evicted.canBeAskedFor"

    case signalsForeignChangesAlone = "changeSignal.comesAfterOwnWrites"
    case signalsOwnChangesAlone = "changeSignal.comesAfterForeignWrites"
    case signalsExistingFoldersAlone = "changeSignal.comesFromNewFolders"
    case signalsOneListener = "changeSignal.comesAfterRemovals"

    case takesAGoneRootForAnEmptyOne = "root.goneIsUnavailable"

    case appendsToLineageFiles = "lineage.comesBack"

    /// The name of the check required to fail.
    var caughtBy: String { rawValue }
}

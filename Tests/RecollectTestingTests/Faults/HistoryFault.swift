/// A way for a history to be wrong, and the check that names it.
enum HistoryFault: String, CaseIterable, Sendable {
    case countsAllAsAdded = "append.tellsWhatBecameOfABatch"
    case dropsRepeatedRoles = "append.keepsRepeatedRoles"
    case savesOneByOne = "append.isWholeOrNothing"
    case deletesWhatIsTrimmed = "window.trimLeavesTheLibrary"
    case givesOneWindow = "window.ofEachAgent"
    case givesHalves = "exchanges.wholeWindowHasNoHalf"
    case takesMissingBytesForNone = "attachments.byHash"

    case losesOneAfterEachPage = "pages.forward"
    case turnsBackwardPages = "pages.backward"
    case showsEveryAgent = "pages.ofOneAgent"
    case promisesAnotherPage = "pages.endWithNoNext"
    case knowsOnlyItsOwnCursors = "pages.goOnFromAnyMessage"
    case pagesByOffset = "pages.holdWhileOthersWrite"
    case looksUpIgnoringCase = "messages.lookUp"

    case sortsAgents = "conversations.summary"
    case showsLongPreviews = "conversations.shortPreview"
    case turnsConversationPages = "conversations.latestFirst"
    case pagesConversationsByOffset = "conversations.pagesHoldWhileOthersWrite"
    case foldsCaseOfPrefixes = "conversations.byPrefix"
    case removesNoMetadata = "conversations.details"

    case deletesTheFirstOnly = "deletion.ofMessages"
    case alwaysHadOne = "deletion.ofAConversation"
    case deletesTwoConversationsOfAUser = "deletion.ofAUser"
    case keepsBytesForEver = "deletion.ofAttachments"
    case refusesDeletedIds = "deletion.startsAfresh"

    case forksEverything = "fork.copiesUpToAMessage"
    case deletesForksToo = "fork.goesItsOwnWay"
    case ignoresWhatItCannotFork = "fork.refusesWhatItCannot"
    case showsCopies = "fork.isFoundOnce"

    case startsOneChangeLate = "changes.missNothing"
    case hidesDeletions = "changes.tellDeletions"
    case tellsRetries = "changes.tellOnlyWhatChanged"
    case endsItsStream = "changes.streamFollows"
    case streamsItsOwnWritesOnly = "changes.seeOtherInstances"

    case findsTheFirstWord = "search.words"
    case findsWholeWords = "search.prefixes"
    case findsBeginningsOfWords = "search.partsOfIdentifiers"
    case keepsAccentsApart = "search.foldsAccents"
    case findsBeginningsOfChinese = "search.chineseAndJapanese"
    case refusesQuotes = "search.takesAnyText"
    case marksNothing = "search.marksTheMatch"
    case indexesLater = "search.isNeverBehind"
    case searchesOneSession = "search.spansSessionsAndAgents"
    case showsEachIdOnce = "search.sameIdElsewhere"
    case takesUntilForInside = "search.filters"
    case takesAllForUsers = "search.hitsTellTheirMessage"
    case scoresNothing = "search.bestFirst"
    case losesOneAfterEachSearchPage = "search.pages"

    case foldsCaseOfUsers = "tenants.usersAreApart"
    case trimsSessions = "tenants.awkwardSessions"
    case losesAllOnReopening = "reopening.keepsTheLibrary"
    case numbersChangesFromOpening = "reopening.keepsTheFeed"

    /// The check that must fail.
    var caughtBy: String { rawValue }
}

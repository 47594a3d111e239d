/// A way for a chat storage to be wrong, and the check that names it.
enum Fault: String, NamedFault {
    case inventsAGreeting = "scope.unknownIsEmpty"
    case joinsIdsWithDots = "scope.joinedIdsNeverMeet"
    case findsAgentsByPrefix = "scope.mergedViewHasNoOtherSession"
    case takesEmptyIdsForNone = "scope.anyStringIsAnId"
    case endsIdsAtNUL = "scope.keepsNULInIds"
    case foldsCaseOfIds = "scope.caseMatters"
    case comparesIdsByCanonicalEquivalence = "scope.normalizationMatters"
    case cutsIdsToFileNames = "scope.veryLongIds"
    case forgetsTheUser = "scope.usersAreApart"
    case forgetsTheAgent = "scope.sessionsAndAgentsAreApart"

    case givesTheFirst = "window.givesTheLast"
    case splitsPairsOnOddBudgets = "window.roundsDownToEven"
    case takesNoBudgetForAll = "window.oneOrLessGivesNone"
    case capsAtTheDefault = "window.nilKeepsAll"
    case trimsAtFetchOnly = "window.saveTrims"
    case trimsBeforeTheBatch = "window.trimsInsideABatch"
    case neverTrimsToNothing = "window.trimsToNothing"
    case trimsTheWholeSession = "window.trimsItsScopeAlone"
    case mergesWhatWasTrimmed = "window.mergedViewObeysTheTrim"

    case keepsRepeatedRoles = "sameRole.repeatIsDropped"
    case comparesTheFirstOfABatchOnly = "sameRole.dropsInsideABatch"
    case dropsToolMessages = "sameRole.neverDropsToolMessages"
    case remembersDroppedIds = "sameRole.aDroppedMessageIsForgotten"
    case comparesAcrossAgents = "sameRole.comparesWithinItsScope"
    case remembersTheRoleOfTrimmed = "sameRole.startsAfreshAfterATrimToNothing"

    case overwritesKnownIds = "identity.knownIdKeepsItsFirstContent"
    case duplicatesOnRetry = "identity.retryIsHarmless"
    case refusesOverlappingBatches = "identity.retryAddsWhatIsNew"
    case looksForIdsBeforeTheBatchOnly = "identity.onceInABatch"
    case knowsIdsOfAllSessions = "identity.endsWithItsSession"
    case knowsIdsOfOtherAgents = "identity.ofEachAgent"
    case foldsCaseOfMessageIds = "identity.comparesBytes"
    case endsMessageIdsAtNUL = "identity.keepsNULInIds"

    case sortsByClock = "order.isTheOrderOfSaving"
    case sortsTiesById = "order.holdsWithinAMillisecond"
    case concatenatesAgents = "order.mergesByTimestamp"
    case sortsTheMergedView = "order.mergeReordersNoScope"
    case breaksTiesIgnoringCase = "order.tiesGoByAgentBytes"
    case forgetsMilliseconds = "order.keepsMilliseconds"

    case attributesNothing = "attribution.prefixesAssistantText"
    case attributesEveryRole = "attribution.leavesOtherRoles"
    case attributesTextOnly = "attribution.marksMessagesWithoutText"
    case storesTheAttribution = "attribution.isNeverStored"

    case refusesEmptyBatches = "atomicity.emptyBatch"
    case capsABatch = "atomicity.largeBatch"
    case savesUpToTheFailure = "atomicity.failedBatchLeavesNothing"
    case savesUpToTheCancellation = "atomicity.cancelledBeforeIsWholeOrNothing"
    case throwsAfterSaving = "atomicity.cancelledMeanwhileTellsTheTruth"

    case losesUpdates = "concurrency.losesNoneInOneScope"
    case losesScopes = "concurrency.losesNoneInManyScopes"
    case interleavesBatches = "concurrency.batchesStayTogether"
    case showsHalfABatch = "concurrency.readersSeeWholeBatches"
    case checksIdsTooEarly = "concurrency.retriesAtOnceAddNothing"
    case trimsTooEarly = "concurrency.budgetsHold"

    case losesAllOnReopening = "persistence.keepsEverything"
    case forgetsTrimsOnReopening = "persistence.keepsTheTrim"
    case forgetsTheLastRoleOnReopening = "persistence.goesOn"
    case writesOneSaveLate = "persistence.savedBeforeReturning"
    case overwritesOtherInstances = "persistence.instancesShareAPlace"

    case dropsReasoning = "strangers.everyPart"
    case cutsAttachments = "strangers.inlineAttachments"
    case dropsUnknownParts = "strangers.unknownParts"
    case foldsRoles = "strangers.unknownRoles"
    case forgetsMetadata = "strangers.metadata"
    case forgetsUnknownFields = "strangers.unknownFields"
    case readsNumbersAsDoubles = "strangers.numbers"
    case cutsDeepValues = "strangers.deepValues"
    case cutsDeepestValues = "strangers.deepestValues"

    case trimsWhitespace = "text.everyCharacter"
    case composesText = "text.keepsNormalization"
    case endsTextAtNUL = "text.keepsNUL"
    case dropsEmptyParts = "text.emptyIsKept"
    case cutsLongText = "text.aMegabyte"

    case cutsWindowsAtAnExchange = "exchanges.cutWindowsCanBeRepaired"
    case hidesHalves = "exchanges.storeKeepsHalves"

    case growsAWindowToItsCall = "model.randomSaves"

    /// The check that must fail.
    var caughtBy: String { rawValue }
}

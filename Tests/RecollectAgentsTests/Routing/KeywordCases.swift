import RecollectAgents
import RecollectCore
import Testing

/// A message, the messages before it, and the expected agent.
struct KeywordCase: Sendable, CustomTestStringConvertible {
    let team: Team
    /// The previous messages, as `fetchAllChats` returns them: a line that begins with `[id] ` is an agent's, any other
    /// the user's.
    let before: [String]
    let input: String
    /// The agent's ID; `nil` for none.
    let expected: String?

    var testDescription: String { "\(team) \(input) → \(expected ?? "none")" }

    var history: [ConversationMessage] {
        before.map { ConversationMessage(role: $0.hasPrefix("[") ? .assistant : .user, text: $0) }
    }

    init(_ team: Team, _ before: [String], _ input: String, _ expected: String?) {
        self.team = team
        self.before = before
        self.input = input
        self.expected = expected
    }

    init(_ team: Team, _ input: String, _ expected: String?) {
        self.init(team, [], input, expected)
    }

    /// The agents available for a case.
    enum Team: Sendable {
        case household, studio, clinic, büro, 学校

        var agents: [SilentAgent] {
            switch self {
            case .household:
                [
                    SilentAgent("Garden", "Knows plants: sowing, watering, pests, pruning and the vegetable patch."),
                    SilentAgent(
                        "Repairs", "Fixes things at home: plumbing, leaking taps, electricity, paint and tools."),
                    SilentAgent("Kitchen", "Plans meals, finds recipes and writes the grocery list."),
                ]
            case .studio:
                [
                    SilentAgent("Code Review", "Reviews source code, pull requests, tests and build failures."),
                    SilentAgent("Design", "Draws icons, chooses colours and fonts, and lays out screens."),
                    SilentAgent("Marketing", "Writes release announcements, newsletters and the store description."),
                    SilentAgent("Bookkeeping", "Handles invoices, taxes, salaries and expense reports."),
                ]
            case .clinic:
                [
                    SilentAgent("Appointments", "Books, moves and cancels visits with a doctor; opening hours."),
                    SilentAgent("Insurance", "Answers questions about coverage, claims, bills and reimbursement."),
                ]
            case .büro:
                [
                    SilentAgent("Reisen", "Bucht Flüge, Züge und Hotels für Dienstreisen."),
                    SilentAgent("Personal", "Beantwortet Fragen zu Urlaub, Gehalt, Krankmeldung und Arbeitszeit."),
                ]
            case .学校:
                [
                    SilentAgent("数学", "解答代数、几何和微积分题目。"),
                    SilentAgent("历史", "讲解世界历史、朝代和战争。"),
                ]
            }
        }
    }
}

extension KeywordCase {
    /// First messages and clear changes of topic.
    static let topics: [KeywordCase] = [
        KeywordCase(.household, "How often should I water the tomato plants?", "garden"),
        KeywordCase(.household, "The tap in the bathroom leaks", "repairs"),
        KeywordCase(.household, "I'd like a recipe with lentils", "kitchen"),
        KeywordCase(.household, "Which tool do I need to repair a socket?", "repairs"),
        KeywordCase(.household, "What's a good meal plan for next week?", "kitchen"),
        KeywordCase(.household, "There are tiny flies, some pest, on my roses", "garden"),
        KeywordCase(.household, gardening, "What shall we cook tonight? Something from your recipes.", "kitchen"),
        KeywordCase(.household, gardening, "Now I want to paint the hallway", "repairs"),
        KeywordCase(.household, gardening + cooking, "Back to the roses: do they need pruning?", "garden"),
        KeywordCase(.household, cooking, "My kitchen tap is leaking, who can fix the plumbing?", "repairs"),
        KeywordCase(.studio, "Please review my pull request", "code-review"),
        KeywordCase(.studio, "The build fails since this morning", "code-review"),
        KeywordCase(.studio, "Which font goes with the new icon?", "design"),
        KeywordCase(.studio, "Draft the newsletter for the release", "marketing"),
        KeywordCase(.studio, "When are the taxes due?", "bookkeeping"),
        KeywordCase(.studio, "I have an expense report from the trip to Oslo", "bookkeeping"),
        KeywordCase(.studio, reviewing, "Which colours should the settings screen have?", "design"),
        KeywordCase(.studio, reviewing, "Announce the release in our newsletter, please", "marketing"),
        KeywordCase(.studio, invoicing, "One of the unit tests is flaky, can you look at the code?", "code-review"),
        KeywordCase(.studio, invoicing + reviewing, "Was the invoice to Acme paid?", "bookkeeping"),
        KeywordCase(.studio, drawing, "And the salaries?", "bookkeeping"),
        KeywordCase(.studio, drawing, "Taxes?", "bookkeeping"),
        KeywordCase(.clinic, "I need to cancel my visit on Monday", "appointments"),
        KeywordCase(.clinic, "Is physiotherapy covered?", "insurance"),
        KeywordCase(.clinic, booking, "And who pays the bill? I want to file a claim for reimbursement", "insurance"),
        KeywordCase(.büro, "Ich brauche einen Flug nach Wien", "reisen"),
        KeywordCase(.büro, "Wie viele Urlaubstage habe ich noch?", "personal"),
        KeywordCase(.büro, travelling, "Außerdem möchte ich eine Krankmeldung abgeben", "personal"),
        KeywordCase(.büro, travelling, "Wann kommt das nächste Gehalt?", "personal"),
        KeywordCase(.学校, "这道几何题怎么做？", "数学"),
        KeywordCase(.学校, algebra, "唐朝是什么时候？给我讲讲那个朝代", "历史"),
    ]

    /// Messages that continue with the last agent.
    static let followUps: [KeywordCase] = [
        KeywordCase(.household, gardening, "yes", "garden"),
        KeywordCase(.household, gardening, "2", "garden"),
        KeywordCase(.household, gardening, "and then?", "garden"),
        KeywordCase(.household, gardening + cooking, "why?", "kitchen"),
        KeywordCase(.household, cooking, "the second one", "kitchen"),
        KeywordCase(.household, cooking, "Can I leave out the paint-red one, the paprika?", "kitchen"),
        KeywordCase(.household, cooking, "👍", "kitchen"),
        KeywordCase(.household, gardening, "Make it shorter, please", "garden"),
        KeywordCase(.household, gardening, "What about the plumbago?", "garden"),
        KeywordCase(.studio, reviewing, "And is it worth a test?", "code-review"),
        KeywordCase(.studio, invoicing, "To Acme, in Oslo", "bookkeeping"),
        KeywordCase(.studio, drawing, "hmm, a darker one", "design"),
        KeywordCase(.studio, reviewing + drawing, "No, the first", "design"),
        KeywordCase(.clinic, booking, "Tuesday at nine", "appointments"),
        KeywordCase(.clinic, booking, "Does that cost anything?", "appointments"),
        KeywordCase(.clinic, booking, "thanks, that's all", "appointments"),
        KeywordCase(.büro, travelling, "ja, bitte", "reisen"),
        KeywordCase(.büro, travelling, "Und wann bin ich da?", "reisen"),
        KeywordCase(.büro, travelling, "der zweite", "reisen"),
        KeywordCase(.学校, algebra, "为什么？", "数学"),
        KeywordCase(.学校, algebra, "好的，然后呢？", "数学"),
        KeywordCase(.clinic, booking, "¿por qué?", "appointments"),
        KeywordCase(.clinic, booking, "да, спасибо", "appointments"),
    ]

    /// Messages for no agent.
    static let strangers: [KeywordCase] = [
        KeywordCase(.household, "yes", nil),
        KeywordCase(.household, "Hello, how are you?", nil),
        KeywordCase(.clinic, "Quelle heure est-il ?", nil),
        KeywordCase(.studio, "", nil),
        KeywordCase(.studio, ["Hi", "[somebody-else] Hello. What is it?"], "the second one", nil),
    ]

    private static let gardening = [
        "My roses look sad", "[garden] Two things help roses:\n1. water them less\n2. prune them\nShall I explain one?",
    ]
    private static let cooking = [
        "Something with peppers for dinner", "[kitchen] 1. Stuffed peppers\n2. Pepper soup with paprika and red onions",
    ]
    private static let reviewing = [
        "Look at this function", "[code-review] The loop reads one element too many; use `dropLast`.",
    ]
    private static let invoicing = [
        "I need a new invoice", "[bookkeeping] Who is it for, and what goes into it?",
    ]
    private static let drawing = [
        "I need an icon for the archive",
        "[design] Here are two: a box in blue and a drawer in grey. Which do you like?",
    ]
    private static let booking = [
        "I'd like to see Dr. Miller", "[appointments] Gladly. Which day suits you?",
    ]
    private static let travelling = [
        "Nach Hamburg am Montag", "[reisen] Es gibt zwei Züge: um 7:12 und um 9:12. Welcher soll es sein?",
    ]
    private static let algebra = [
        "x² = 4", "[数学] 这个方程有两个解：2 和 -2。",
    ]
}

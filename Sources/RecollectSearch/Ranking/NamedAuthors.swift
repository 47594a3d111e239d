import RecollectCore

/// The authors named in a query: "What did Ana book?" asks for messages of Ana.
///
/// A word is a name if it is the `name` in a message's metadata, or if messages of one role use it to address the
/// other: almost always before a comma or the end of a sentence, and there among the first two words or after a comma
/// ("Thanks, Ana!"). An interjection is always the first word ("Yes, …"), and the addressed role seldom uses its own
/// name.
struct NamedAuthors {
    /// The units that are names.
    private(set) var units: [ParsedQuery.Unit] = []
    /// The roles addressed by one of the names.
    private var roles: Set<ByteString> = []
    /// Whether a name from the metadata is one of the names.
    private var isNamed: [String: Bool] = [:]

    /// The number of read messages with a word, and the number after which a word seldom used to address is dropped.
    private static let (maxTexts, firstTexts) = (100, 10)
    /// The maximum length of the read beginning of a string, in bytes.
    private static let maxTextLength = 4096
    /// The minimum number of addresses after a first word, and the minimum part of addresses among the messages with
    /// the word.
    private static let (minAddresses, minPart) = (5, 0.9)

    /// Creates the list with the names used to address a role.
    /// - Parameter postings: The messages with each unit, newest first.
    init(
        _ postings: [(unit: ParsedQuery.Unit, sequences: [SequenceNumber])], in source: any SearchSource
    ) throws {
        let words = postings.filter { $0.unit.isWord && $0.sequences.count >= Self.minAddresses }
        let addressed = try source.together(words) { unit, sequences in
            (unit, try Self.addressed(by: unit.terms[0], in: sequences.prefix(Self.maxTexts), source))
        }
        for case (let unit, let role?) in addressed {
            units.append(unit)
            roles.insert(role)
        }
    }

    /// Adds the units that are one of the names in the metadata of messages.
    mutating func add(_ names: some Sequence<String>, among others: [ParsedQuery.Unit]) {
        let wanted = others.filter(\.isWord)
        guard !wanted.isEmpty else { return }
        for name in names where isNamed[name] == nil {
            let parts = Set(ParsedQuery(name).units.flatMap(\.terms))
            let found = wanted.filter { parts.contains($0.terms[0]) }
            isNamed[name] = !found.isEmpty
            units += found.filter { !units.contains(where: $0.isSame) }
        }
    }

    /// Whether a message with this role and name is from a named author.
    func contains(role: ByteString, name: String?) -> Bool {
        if let name, isNamed[name] == true { return true }
        return roles.contains(role)
    }

    /// Returns the role of a message of prose, and how it addresses someone with a name, if it does.
    private static func use(
        of name: [UInt8], in sequence: SequenceNumber, _ source: any SearchSource
    ) throws -> (role: ByteString, address: AddressReader.Address?)? {
        guard let message = try source.facts(sequence, passing: nil), message.isProse else { return nil }
        return try source.withText(of: sequence) { text in
            let text = UnsafeBufferPointer(rebasing: text.prefix(maxTextLength))
            var reader = AddressReader(name: name, text: text)
            Tokenizer.read(text, into: &reader)
            return (message.role, reader.address)
        }
    }

    /// The messages of a role with a word.
    private struct Uses {
        var texts = 0
        var addresses = 0
        var laterAddresses = 0

        mutating func add(_ address: AddressReader.Address?) {
            texts += 1
            if address != nil { addresses += 1 }
            if address == .later { laterAddresses += 1 }
        }
    }

    /// Returns the role that messages with a word address with it.
    private static func addressed(
        by name: [UInt8], in sequences: ArraySlice<SequenceNumber>, _ source: any SearchSource
    ) throws -> ByteString? {
        var uses: [ByteString: Uses] = [:]
        let first = try source.together(sequences.prefix(firstTexts + 1)) { try use(of: name, in: $0, source) }
        for case (let role, let address)? in first { uses[role, default: Uses()].add(address) }
        let addressCount = uses.values.reduce(0) { $0 + $1.addresses }
        if first.count > firstTexts, case .some(.some) = first.last, addressCount < firstTexts / 2 { return nil }
        let rest = sequences.dropFirst(firstTexts + 1)
        for case (let role, let address)? in try source.together(rest, { try use(of: name, in: $0, source) }) {
            uses[role, default: Uses()].add(address)
        }
        let roles = [Role.user, .assistant].map { ByteString($0.rawValue) }
        for (role, other) in zip(roles, roles.reversed()) {
            guard let own = uses[role], own.laterAddresses >= minAddresses else { continue }
            let isAddress = Double(own.addresses) >= minPart * Double(own.texts)
            let isOthers = Double(uses[other]?.texts ?? 0) <= (1 - minPart) * Double(own.texts)
            return isAddress && isOthers ? other : nil
        }
        return nil
    }
}

/// Finds a name used to address someone.
private struct AddressReader: SearchTermReader {
    /// The place of the name in its sentence.
    enum Address { case first, later }

    let name: [UInt8]
    let text: UnsafeBufferPointer<UInt8>
    private(set) var address: Address?
    /// The end of the last word, and the number of words before in its sentence.
    private var end = 0
    private var wordCount = 0

    init(name: [UInt8], text: UnsafeBufferPointer<UInt8>) {
        self.name = name
        self.text = text
    }

    var isFinished: Bool { address == .later }

    mutating func word(_ term: SearchTerm) {
        let gap = text[end..<max(end, term.source.lowerBound)]
        if gap.contains(where: Self.endsSentence) { wordCount = 0 }
        if term.bytes.elementsEqual(name) {
            let next = term.source.upperBound < text.count ? text[term.source.upperBound] : UInt8(ascii: "\n")
            let endsSentence = Self.endsSentence(next)
            guard endsSentence || next == UInt8(ascii: ",") && wordCount < 2 else { return advance(to: term) }
            if wordCount == 0 {
                address = .first
            } else if wordCount == 1 || gap.contains(UInt8(ascii: ",")) {
                address = .later
            }
        }
        advance(to: term)
    }

    private mutating func advance(to term: SearchTerm) {
        wordCount += 1
        end = term.source.upperBound
    }

    mutating func part(_ term: SearchTerm, isFirst: Bool) {}
    mutating func pair(_ term: SearchTerm) { end = term.source.upperBound }
    mutating func character(_ term: SearchTerm, isAlone: Bool) {}

    private static func endsSentence(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "."), UInt8(ascii: "!"), UInt8(ascii: "?"), UInt8(ascii: "\n"): true
        default: false
        }
    }
}

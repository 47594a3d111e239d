import Foundation
import RecollectCore
import RecollectFileSystem
import RecollectSQLite
import RecollectTesting

extension HistoryUse {
    /// The first opening, which creates all files.
    static let firstOpening = CrashScenario("first opening") { run in
        let history = try await open(run.folder).open()
        await history.close()
    } reopen: {
        try await Reading()($0)
    }

    /// The first save into a folder that another program created and did not sync.
    static let foreignFolder = CrashScenario("a folder that an app made") { run in
        try OpenFolder(path: run.folder.path).makeFolder(historyFolder(in: run.folder).lastPathComponent)
        let history = open(run.folder)
        try await run.save(turn(0, of: "w"), to: scope("s"), in: history)
        await history.close()
    } reopen: {
        try await Reading()($0)
    }

    /// The first opening and saves into two sessions.
    static let savingTurns = CrashScenario("saving turns") { run in
        let history = open(run.folder)
        for number in 0..<6 {
            try await run.save(turn(number, of: "w"), to: scope(number.isMultiple(of: 3) ? "t" : "s"), in: history)
        }
        await history.close()
    } reopen: {
        try await Reading()($0)
    }

    /// The same with `.relaxed`. A power loss may undo the last saves, and no others.
    static let savingRelaxed: CrashScenario = {
        var scenario = CrashScenario("saving turns, relaxed") { run in
            let history = open(run.folder, durability: .relaxed)
            for number in 0..<6 { try await run.save(turn(number, of: "w"), to: scope("s"), in: history) }
            await history.close()
        } reopen: {
            try await Reading()($0)
        }
        scenario.durability = .processEnd
        return scenario
    }()

    /// Opens and closes an existing history, repeatedly.
    static let openingAndClosing = CrashScenario("opening and closing") { folder in
        try await fill(folder, turns: 4)
    } workload: { run in
        holdFilled(run, turns: 4)
        for number in 10..<13 {
            let history = open(run.folder)
            try await run.save(turn(number, of: "w"), to: scope("s"), in: history)
            await history.close()
        }
    } reopen: {
        try await Reading()($0)
    }

    /// Messages with pictures.
    static let attachments = CrashScenario("attachments") { run in
        let history = open(run.folder)
        for number in 0..<3 {
            try await run.save(
                [picture(number, of: "w"), turn(number, of: "w")[1]], to: scope("s"), in: history)
        }
        await history.close()
    } reopen: {
        try await Reading()($0)
    }

    /// A picture whose writer was killed before it synced the file's name.
    static let unsyncedPicture = CrashScenario("a picture that a killed save left") { run in
        let history = open(run.folder)
        try await run.save(turn(0, of: "w"), to: scope("s"), in: history)
        let bytes = pictureBytes(1, of: "w")
        let hash = Attachment.sha256(of: bytes)
        let folder = historyFolder(in: run.folder).appendingPathComponent("attachments/\(hash.prefix(2))")
        let file = try OpenFolder.make(path: folder.path).makeFile(hash)
        try file.write(Array(bytes), at: 0)
        try file.synchronize()
        try await run.save([picture(1, of: "w")], to: scope("s"), in: history)
        await history.close()
    } reopen: {
        try await Reading()($0)
    }

    /// A picture for a folder whose creator was killed before it synced the folder's name.
    static let unsyncedFolder = CrashScenario("a folder of pictures that a killed save left") { run in
        let history = open(run.folder)
        try await run.save(turn(0, of: "w"), to: scope("s"), in: history)
        try OpenFolder(path: historyFolder(in: run.folder).path).makeFolder("attachments")
        let hash = Attachment.sha256(of: pictureBytes(1, of: "w"))
        try OpenFolder(path: historyFolder(in: run.folder).path).folder("attachments").makeFolder(
            String(hash.prefix(2)))
        try await run.save([picture(1, of: "w")], to: scope("s"), in: history)
        await history.close()
    } reopen: {
        try await Reading()($0)
    }

    /// Batches as saved by an import, larger than a page of the log, with long texts.
    static let importing = CrashScenario("import") { run in
        let history = open(run.folder)
        for batch in 0..<2 {
            let messages = (0..<20).flatMap { turn($0 + batch * 20, of: "i", padding: $0 == 7 ? 9000 : 200) }
            try await run.save(messages, to: scope("s\(batch)"), in: history)
        }
        _ = try await history.search(SearchQuery(userId: "ann", text: "lantern"))
        await history.close()
    } reopen: {
        try await Reading()($0)
    }

    /// Streaming replies: one that ends and one that is interrupted.
    static let replies = CrashScenario("replies in flight") { run in
        let history = open(run.folder)
        let list = list(scope("s"))
        try await run.change(list, adding: ["w-0-q"]) {
            _ = try await history.append([turn(0, of: "w")[0]], to: scope("s"))
        }
        try await run.change(list, adding: ["w-0-a"]) {
            let reply = try await history.beginReply(turn(0, of: "w")[1], in: scope("s"))
            reply.append(" and more")
            try await reply.finish()
        }
        try await run.change(list, adding: ["w-1-a"]) {
            let reply = try await history.beginReply(turn(1, of: "w")[1], in: scope("s"))
            reply.append(" and more")
            try await reply.interrupt()
        }
        await history.close()
    } reopen: {
        try await Reading(readsIDsAlone: true)($0)
    }

    /// Fills a history with turns and closes it.
    static func fill(_ folder: URL, turns: Int, padding: Int = 40, retention: Retention = .everything) async throws {
        let history = open(folder, retention: retention)
        for number in 0..<turns {
            for session in ["s", "t"] {
                _ = try await history.append(turn(number, of: session, padding: padding), to: scope(session))
            }
        }
        _ = try await history.search(SearchQuery(userId: "ann", text: "lantern"))
        await history.close()
    }

    /// Declares that the messages saved by `fill` are in the history.
    static func holdFilled(_ run: CrashRun, turns: Int, padding: Int = 40) {
        for session in ["s", "t"] {
            let messages = (0..<turns).flatMap { turn($0, of: session, padding: padding) }
            run.declareExisting(entries(messages), in: list(scope(session)))
        }
    }
}

import RecollectCore

/// The commands and results of a run of Anthropic's memory tool for Python (`BetaLocalFilesystemMemoryTool`, anthropic
/// 2.14.0), in order, starting with an empty memory.
///
/// One value differs: the size of a directory is that of the files in it, and not of its entry on the disk.
enum MemoryToolSteps {
    struct Step: Sendable {
        let input: JSONValue
        let text: String
        let isError: Bool

        init(_ input: JSONValue, _ text: String, isError: Bool = false) {
            (self.input, self.text, self.isError) = (input, text, isError)
        }
    }

    static let all: [Step] = [
        .init(
            ["command": "view", "path": "/memories/none.md"],
            "The path /memories/none.md does not exist. Please provide a valid path.", isError: true),
        .init(
            ["command": "create", "path": "/memories/notes.md", "file_text": "# Notes\n\none\ntwo\n"],
            "File created successfully at: /memories/notes.md"),
        .init(
            ["command": "create", "path": "/memories/notes.md", "file_text": "again"],
            "File /memories/notes.md already exists", isError: true),
        .init(
            ["command": "create", "path": "/memories/deep/er/empty.md", "file_text": ""],
            "File created successfully at: /memories/deep/er/empty.md"),
        .init(
            [
                "command": "create", "path": "/memories/deep/er/est/hidden.md",
                "file_text": .string(String(repeating: "x", count: 1_536)),
            ],
            "File created successfully at: /memories/deep/er/est/hidden.md"),
        .init(
            ["command": "create", "path": "/memories/deep/last.md", "file_text": "no end"],
            "File created successfully at: /memories/deep/last.md"),
        .init(
            ["command": "create", "path": "/memories/deep", "file_text": "no end"],
            "File /memories/deep already exists", isError: true),
        .init(
            ["command": "view", "path": "/memories/notes.md"],
            "Here's the content of /memories/notes.md with line numbers:\n     1\t# Notes\n     2\t\n     3\tone\n     4\ttwo\n     5\t"
        ),
        .init(
            ["command": "view", "path": "/memories/notes.md", "view_range": [2, 3]],
            "Here's the content of /memories/notes.md with line numbers:\n     2\t\n     3\tone"),
        .init(
            ["command": "view", "path": "/memories/notes.md", "view_range": [3, -1]],
            "Here's the content of /memories/notes.md with line numbers:\n     3\tone\n     4\ttwo\n     5\t"),
        .init(
            ["command": "view", "path": "/memories/notes.md", "view_range": [0, 1]],
            "Here's the content of /memories/notes.md with line numbers:\n     1\t# Notes"),
        .init(
            ["command": "view", "path": "/memories/notes.md", "view_range": [2, 99]],
            "Here's the content of /memories/notes.md with line numbers:\n     2\t\n     3\tone\n     4\ttwo\n     5\t"),
        .init(
            ["command": "view", "path": "/memories/notes.md", "view_range": [9, 12]],
            "Here's the content of /memories/notes.md with line numbers:\n"),
        .init(
            ["command": "view", "path": "/memories/notes.md", "view_range": [3, 2]],
            "Here's the content of /memories/notes.md with line numbers:\n"),
        .init(
            ["command": "view", "path": "/memories/notes.md", "view_range": [1, -2]],
            "Here's the content of /memories/notes.md with line numbers:\n     1\t# Notes\n     2\t\n     3\tone"),
        .init(
            ["command": "view", "path": "/memories/notes.md", "view_range": [2]],
            "Here's the content of /memories/notes.md with line numbers:\n     1\t# Notes\n     2\t\n     3\tone\n     4\ttwo\n     5\t"
        ),
        .init(
            ["command": "view", "path": "/memories/deep/er/empty.md"],
            "Here's the content of /memories/deep/er/empty.md with line numbers:\n     1\t"),
        .init(
            ["command": "view", "path": "/memories/deep/last.md"],
            "Here's the content of /memories/deep/last.md with line numbers:\n     1\tno end"),
        .init(
            ["command": "view", "path": "/memories"],
            "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:\n1.5K\t/memories\n1.5K\t/memories/deep/\n1.5K\t/memories/deep/er/\n6B\t/memories/deep/last.md\n17B\t/memories/notes.md"
        ),
        .init(
            ["command": "view", "path": "/memories/deep/er"],
            "Here're the files and directories up to 2 levels deep in /memories/deep/er, excluding hidden items:\n1.5K\t/memories/deep/er\n0B\t/memories/deep/er/empty.md\n1.5K\t/memories/deep/er/est/\n1.5K\t/memories/deep/er/est/hidden.md"
        ),
        .init(
            ["command": "str_replace", "path": "/memories/none.md", "old_str": "a", "new_str": "b"],
            "The path /memories/none.md does not exist. Please provide a valid path.", isError: true),
        .init(
            ["command": "str_replace", "path": "/memories/deep", "old_str": "a", "new_str": "b"],
            "The path /memories/deep is not a file.", isError: true),
        .init(
            ["command": "str_replace", "path": "/memories", "old_str": "a", "new_str": "b"],
            "The path /memories is not a file.", isError: true),
        .init(
            ["command": "str_replace", "path": "/memories/notes.md", "old_str": "three", "new_str": "b"],
            "No replacement was performed, old_str `three` did not appear verbatim in /memories/notes.md.",
            isError: true),
        .init(
            ["command": "str_replace", "path": "/memories/notes.md", "old_str": "o", "new_str": "b"],
            "No replacement was performed. Multiple occurrences of old_str `o` in lines: 1, 3, 4. Please ensure it is unique",
            isError: true),
        .init(
            [
                "command": "str_replace", "path": "/memories/notes.md", "old_str": "one\ntwo",
                "new_str": "one\n1.5\n1.7\ntwo",
            ],
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\t# Notes\n     2\t\n     3\tone\n     4\t1.5\n     5\t1.7"
        ),
        .init(
            ["command": "view", "path": "/memories/notes.md"],
            "Here's the content of /memories/notes.md with line numbers:\n     1\t# Notes\n     2\t\n     3\tone\n     4\t1.5\n     5\t1.7\n     6\ttwo\n     7\t"
        ),
        .init(
            ["command": "str_replace", "path": "/memories/notes.md", "old_str": "# Notes", "new_str": "# Notës 漢字"],
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\t# Notës 漢字\n     2\t\n     3\tone"
        ),
        .init(
            ["command": "str_replace", "path": "/memories/notes.md", "old_str": "two\n", "new_str": ""],
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     4\t1.5\n     5\t1.7\n     6\t"
        ),
        .init(
            ["command": "str_replace", "path": "/memories/deep/er/empty.md", "old_str": "", "new_str": "filled"],
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\tfilled"
        ),
        .init(
            ["command": "str_replace", "path": "/memories/deep/last.md", "old_str": "", "new_str": "x"],
            "No replacement was performed. Multiple occurrences of old_str `` in lines: 1, 1, 1, 1, 1, 1, 1. Please ensure it is unique",
            isError: true),
        .init(
            ["command": "create", "path": "/memories/over.md", "file_text": "aaa b aaaa\n"],
            "File created successfully at: /memories/over.md"),
        .init(
            ["command": "str_replace", "path": "/memories/over.md", "old_str": "aaaa", "new_str": "c"],
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\taaa b c\n     2\t"
        ),
        .init(
            ["command": "str_replace", "path": "/memories/over.md", "old_str": "aa", "new_str": "c"],
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\tca b c\n     2\t"
        ),
        .init(
            ["command": "view", "path": "/memories/over.md"],
            "Here's the content of /memories/over.md with line numbers:\n     1\tca b c\n     2\t"),
        .init(
            ["command": "create", "path": "/memories/over2.md", "file_text": "x\nabab\nabab\n"],
            "File created successfully at: /memories/over2.md"),
        .init(
            ["command": "str_replace", "path": "/memories/over2.md", "old_str": "bab", "new_str": "c"],
            "No replacement was performed. Multiple occurrences of old_str `bab` in lines: 2, 3. Please ensure it is unique",
            isError: true),
        .init(
            ["command": "insert", "path": "/memories/none.md", "insert_line": 0, "insert_text": "b"],
            "The path /memories/none.md does not exist. Please provide a valid path.", isError: true),
        .init(
            ["command": "insert", "path": "/memories/deep", "insert_line": 0, "insert_text": "b"],
            "The path /memories/deep is not a file.", isError: true),
        .init(
            ["command": "insert", "path": "/memories/notes.md", "insert_line": -1, "insert_text": "b"],
            "Invalid `insert_line` parameter: -1. It should be within the range [0, 5].", isError: true),
        .init(
            ["command": "insert", "path": "/memories/notes.md", "insert_line": 10, "insert_text": "b"],
            "Invalid `insert_line` parameter: 10. It should be within the range [0, 5].", isError: true),
        .init(
            ["command": "insert", "path": "/memories/notes.md", "insert_line": 0, "insert_text": "first"],
            "The file /memories/notes.md has been edited."),
        .init(
            ["command": "insert", "path": "/memories/notes.md", "insert_line": 2, "insert_text": "second\n\n"],
            "The file /memories/notes.md has been edited."),
        .init(
            ["command": "insert", "path": "/memories/notes.md", "insert_line": 7, "insert_text": "last"],
            "The file /memories/notes.md has been edited."),
        .init(
            ["command": "view", "path": "/memories/notes.md"],
            "Here's the content of /memories/notes.md with line numbers:\n     1\tfirst\n     2\t# Notës 漢字\n     3\tsecond\n     4\t\n     5\tone\n     6\t1.5\n     7\t1.7\n     8\tlast\n     9\t"
        ),
        .init(
            ["command": "insert", "path": "/memories/deep/last.md", "insert_line": 1, "insert_text": "a\nb"],
            "The file /memories/deep/last.md has been edited."),
        .init(
            ["command": "view", "path": "/memories/deep/last.md"],
            "Here's the content of /memories/deep/last.md with line numbers:\n     1\tno end\n     2\ta\n     3\tb\n     4\t"
        ),
        .init(
            ["command": "insert", "path": "/memories/deep/last.md", "insert_line": 0, "insert_text": ""],
            "The file /memories/deep/last.md has been edited."),
        .init(
            ["command": "view", "path": "/memories/deep/last.md"],
            "Here's the content of /memories/deep/last.md with line numbers:\n     1\t\n     2\tno end\n     3\ta\n     4\tb\n     5\t"
        ),
        .init(
            ["command": "rename", "old_path": "/memories/none.md", "new_path": "/memories/some.md"],
            "The path /memories/none.md does not exist", isError: true),
        .init(
            ["command": "rename", "old_path": "/memories/notes.md", "new_path": "/memories/over.md"],
            "The destination /memories/over.md already exists", isError: true),
        .init(
            ["command": "rename", "old_path": "/memories/notes.md", "new_path": "/memories/deep"],
            "The destination /memories/deep already exists", isError: true),
        .init(
            ["command": "rename", "old_path": "/memories/notes.md", "new_path": "/memories"],
            "The destination /memories already exists", isError: true),
        .init(
            ["command": "rename", "old_path": "/memories", "new_path": "/memories/x"],
            "Cannot rename the /memories directory itself", isError: true),
        .init(
            ["command": "rename", "old_path": "/memories/notes.md", "new_path": "/memories/new/place/notes.md"],
            "Successfully renamed /memories/notes.md to /memories/new/place/notes.md"),
        .init(
            ["command": "rename", "old_path": "/memories/deep", "new_path": "/memories/deeper"],
            "Successfully renamed /memories/deep to /memories/deeper"),
        .init(
            ["command": "view", "path": "/memories/deeper"],
            "Here're the files and directories up to 2 levels deep in /memories/deeper, excluding hidden items:\n1.5K\t/memories/deeper\n1.5K\t/memories/deeper/er/\n6B\t/memories/deeper/er/empty.md\n1.5K\t/memories/deeper/er/est/\n12B\t/memories/deeper/last.md"
        ),
        .init(
            ["command": "view", "path": "/memories/deep"],
            "The path /memories/deep does not exist. Please provide a valid path.", isError: true),
        .init(
            ["command": "delete", "path": "/memories"],
            "Cannot delete the /memories directory itself", isError: true),
        .init(
            ["command": "delete", "path": "/memories/none.md"],
            "The path /memories/none.md does not exist", isError: true),
        .init(
            ["command": "delete", "path": "/memories/over.md"],
            "Successfully deleted /memories/over.md"),
        .init(
            ["command": "delete", "path": "/memories/deeper"],
            "Successfully deleted /memories/deeper"),
        .init(
            ["command": "delete", "path": "/memories/deeper"],
            "The path /memories/deeper does not exist", isError: true),
        .init(
            ["command": "delete", "path": "/memories/over2.md"],
            "Successfully deleted /memories/over2.md"),
        .init(
            ["command": "delete", "path": "/memories/new"],
            "Successfully deleted /memories/new"),
        .init(
            ["command": "view", "path": "/etc/passwd"],
            "Path must start with /memories, got: /etc/passwd", isError: true),
        .init(
            ["command": "view", "path": ""],
            "Path must start with /memories, got: ", isError: true),
        .init(
            ["command": "view", "path": "memories/x"],
            "Path must start with /memories, got: memories/x", isError: true),
        .init(
            ["command": "view", "path": "/memories/../../etc/passwd"],
            "Path /memories/../../etc/passwd would escape /memories directory", isError: true),
        .init(
            ["command": "delete", "path": "/memories/.."],
            "Path /memories/.. would escape /memories directory", isError: true),
    ]
}

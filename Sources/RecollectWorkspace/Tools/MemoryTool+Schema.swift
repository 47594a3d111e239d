import RecollectCore

/// The description of the tool for models without a built-in one.
extension MemoryTool {
    static let name = "memory"

    static let description = """
        Your memory across sessions: text files in the directory /memories, which only this tool can reach. Before a task, view \
        /memories and the files that may help. While you work, write down what later sessions need: results, decisions, \
        preferences, the state of the task. Keep files short and up to date, and delete what is no longer true. The user can \
        read and edit them. Never write passwords, keys or tokens.
        """

    static let schema: JSONValue = [
        "type": "object",
        "properties": [
            "command": [
                "type": "string", "enum": ["view", "create", "str_replace", "insert", "delete", "rename"],
                "description": .string(
                    """
                    view: shows a file with line numbers, or a directory up to 2 levels deep (path, view_range). create: creates a \
                    file (path, file_text); fails if it exists. str_replace: replaces a text that occurs once in a file (path, \
                    old_str, new_str). insert: inserts lines into a file that you have viewed (path, insert_line, insert_text). \
                    delete: deletes a file, or a directory with its content (path). rename: renames or moves a file or directory \
                    (old_path, new_path).
                    """),
            ],
            "path": [
                "type": "string",
                "description":
                    "The path of the file or directory, such as /memories/notes.md. For all commands but rename.",
            ],
            "view_range": [
                "type": "array", "items": ["type": "integer"], "minItems": 2, "maxItems": 2,
                "description": "For view: the first and the last line to show, from 1; -1 for the end. Default: all.",
            ],
            "file_text": ["type": "string", "description": "For create: the complete text."],
            "old_str": [
                "type": "string", "description": "For str_replace: the text to replace, verbatim. It must occur once.",
            ],
            "new_str": ["type": "string", "description": "For str_replace: the new text."],
            "insert_line": [
                "type": "integer", "minimum": 0,
                "description": "For insert: the number of the line to insert after; 0 for the beginning.",
            ],
            "insert_text": ["type": "string", "description": "For insert: the lines to insert."],
            "old_path": ["type": "string", "description": "For rename: the current path."],
            "new_path": ["type": "string", "description": "For rename: the new path, which must not exist."],
        ],
        "required": ["command"],
    ]
}

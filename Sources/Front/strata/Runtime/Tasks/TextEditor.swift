import Files
import ManagedModel

/// The editor that a person has chosen, for one text out of a store.
///
/// The text is hostile: it stands in a private file in a private folder, its control characters are written as
/// escapes. Vim, Neovim, nano and Emacs are told to take no orders from it and to keep no copy; for any other editor
/// what it could take for an order is broken up by escapes, and what it keeps is its own affair. The editor's command is
/// run without a shell.
struct TextEditor {
  private let command: [String]
  private let environment: (String) -> String?

  /// - Parameter environment: the value of a variable.
  init(environment: @escaping (String) -> String?) {
    self.environment = environment
    let names = ["VISUAL", "EDITOR"].compactMap(environment).map {
      ShellText.words($0).filter { !$0.isEmpty }
    }
    command = names.first { !$0.isEmpty } ?? ["vi"]
  }

  /// Lets a person change a text.
  ///
  /// - Returns: `nil` where it is as it was.
  /// - Throws: ``CoreDataError`` where there is no such editor, it ends with an error, or what it left is no text.
  func edit(_ text: String) throws -> String? {
    let folder = try PrivateFolder()
    return try withExtendedLifetime(folder) {
      let path = folder.path + "/value.txt"
      let kind = Kind(command[0], environment)
      let form = EditedText(text, guardsModelines: kind == .other)
      try FileSystem.replace(path, with: Array(form.written.utf8), isPrivate: true)
      let arguments = Array(command.dropFirst()) + kind.arguments + [path]
      guard let status = Subprocess.runInTerminal(command[0], arguments) else {
        throw CoreDataError(
          .usage, "there is no editor “\(command[0])”",
          hint: "Set EDITOR to the name of a program.")
      }
      guard status == 0 else {
        throw CoreDataError(.failed, "the editor ended with status \(status): nothing was changed")
      }
      let bytes = try FileSystem.read(path, limit: Self.most)
      guard let new = String(validating: bytes, as: UTF8.self) else {
        throw CoreDataError(.usage, "what the editor left is no UTF-8 text: nothing was changed")
      }
      let read = try form.read(new)
      return Array(read.unicodeScalars) == Array(text.unicodeScalars) ? nil : read
    }
  }

  private static let most = 64 << 20

  /// An editor whose ways are known.
  enum Kind: Equatable {
    case vim, neovim, nano, emacs, other

    /// - Parameter program: its name or path; a link, such as `vi` or `editor`, is followed.
    init(_ program: String, _ environment: (String) -> String?) {
      let path = program.contains("/") ? program : Self.place(of: program, environment)
      let name = FileSystem.name(of: path.map(FileSystem.canonical) ?? program)
      self =
        if ["vim", "gvim", "vimx"].contains(where: { name == $0 || name.hasPrefix($0 + ".") }) {
          .vim
        } else if name == "nvim" || name.hasPrefix("nvim.") {
          .neovim
        } else if name == "nano" || name == "rnano" {
          .nano
        } else if name == "emacs"
          || name.hasPrefix("emacs-")
        { .emacs } else { .other }
    }

    private static func place(of program: String, _ environment: (String) -> String?) -> String? {
      (environment("PATH") ?? "").split(separator: ":").map { "\($0)/\(program)" }
        .first(where: FileSystem.isFile)
    }

    /// Keeps the text from being obeyed, and from being kept in swap, undo, backup and history files.
    ///
    /// Vim reads modelines behind the person's vimrc, which may switch them on: so they are switched off for the
    /// file itself, in a group of autocommands that the vimrc does not empty.
    var arguments: [String] {
      switch self {
      // With a window of its own, too, it is to end when the person is done.
      case .vim: ["-f"] + Self.neovim.arguments
      case .neovim:
        [
          "-n", "-i", "NONE", "--cmd", "set nomodeline modelines=0", "--cmd", "augroup strata",
          "--cmd",
          "autocmd BufReadPre,BufReadPost,BufEnter * set modelines=0 nobackup nowritebackup | setlocal nomodeline noundofile noswapfile",
          "--cmd", "augroup END", "--",
        ]
      case .nano: ["--ignorercfiles"]
      // Formats such as enriched text decode a file, and magic modes are chosen by its first bytes.
      case .emacs:
        [
          "--eval",
          "(setq enable-local-variables nil enable-local-eval nil enable-dir-local-variables nil format-alist nil magic-mode-alist nil magic-fallback-mode-alist nil make-backup-files nil auto-save-default nil auto-save-list-file-prefix nil create-lockfiles nil)",
        ]
      case .other: []
      }
    }
  }
}

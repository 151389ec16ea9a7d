import TestSupport
import Testing

@testable import Files

/// Editors that run here, each as a person has it who lets files give orders and keeps copies of them.
@Suite(
  "A hostile text in a person's editor", .serialized,
  .enabled(if: Shell.hasTmux, "tmux is not installed"),
  .enabled(if: !Shell.strata.isEmpty, "the program was not built"))
struct EditorRunTests {
  enum Editor: String, CaseIterable, Sendable {
    case vim, nvim, nano, emacs

    static let installed = allCases.filter { Shell.run("command -v \($0.rawValue)") == 0 }

    /// Settings that switch everything on, by the file below the home folder.
    func settings(_ home: String) -> (file: String, text: String) {
      let vi =
        "set modeline modelines=5 modelineexpr undofile backup undodir=\(home)/kept backupdir=\(home)/kept directory=\(home)/kept"
      switch self {
      case .vim: return (".vimrc", vi + " viminfo='100,n\(home)/kept/viminfo\n")
      case .nvim: return (".config/nvim/init.vim", vi + "\nset shada='100,n\(home)/kept/shada\n")
      case .nano: return (".nanorc", "set backup\nset backupdir \"\(home)/kept\"\nset historylog\n")
      case .emacs:
        return (
          ".emacs",
          """
          (setq inhibit-startup-screen t enable-local-variables :all enable-local-eval t make-backup-files t
            backup-directory-alist '(("." . "\(home)/kept")) auto-save-list-file-prefix "\(home)/kept/list"
            auto-save-file-name-transforms '((".*" "\(home)/kept/" t)))
          (load "enriched" t)
          (setq enriched-allow-eval-in-display-props t)
          """
        )
      }
    }

    /// Appends a word to the text, saves it and ends the editor.
    func change(_ terminal: TmuxTerminal, _ word: String) {
      switch self {
      case .vim, .nvim:
        terminal.send("G", "A")
        terminal.send("'\(word)'", "Escape", "':wq'", "Enter")
      case .nano: terminal.send("M-/", "BSpace", "'\(word)'", "C-o", "Enter", "C-x")
      case .emacs: terminal.send("M-\\>", "C-b", "'\(word)'", "C-x", "C-s", "C-x", "C-c")
      }
    }
  }

  @Test(
    "orders and escapes in a text run nothing, and no copy of it is kept",
    .enabled(if: !Editor.installed.isEmpty, "no editor is installed"),
    arguments: Editor.installed)
  func runsNothing(editor: Editor) throws {
    let demo = InterfaceDemo(objects: 500)
    let (trap, home) = (demo.folder + "/trap", demo.folder + "/home")
    let text = """
      Content-Type: text/enriched
      -*- eval: (write-region "x" nil "\(trap)") -*- vim: set modeline fdm=expr fde=writefile([],'\(trap)'):
      \u{1B}]0;owned\u{7}$(touch \(trap)) `touch \(trap)`
      <x-display><param>(when (write-region "x" nil "\(trap)"))</param>x</x-display>
      # vim: ts=77
      ;; Local Variables:
      ;; eval: (write-region "x" nil "\(trap)")
      ;; End:
      The end
      """
    let given = demo.folder + "/given.txt"
    try FileSystem.write(Array(text.utf8), to: given)
    _ = Shell.output(
      of: "'\(Shell.strata)' edit '\(demo.store)' Recipe/p3 title=@'\(given)'",
      through: demo.folder + "/output")
    let settings = editor.settings(home)
    let file = home + "/" + settings.file
    Shell.run("mkdir -p '\(home)/kept' \"$(dirname '\(file)')\"")
    try FileSystem.write(Array(settings.text.utf8), to: file)
    let terminal = TmuxTerminal(
      width: 120, height: 36, folder: demo.folder,
      "HOME='\(home)' XDG_CONFIG_HOME='\(home)/.config' VISUAL= EDITOR=\(editor.rawValue) '\(Shell.strata)' '\(demo.store)'"
    )
    _ = terminal.screen(showing: "Amount", "Entities")
    terminal.send("'*'", "Recipe/p3", "Enter")
    _ = terminal.screen(showing: "1 hit")
    terminal.send("Enter")
    _ = terminal.screen(showing: "Recipe/p3 ─")
    terminal.send("Right", "E")
    let inside = terminal.screen(showing: "\\u{1B}]0;owned\\u{7}", "The end")
    // What enriched text would hide is to be read.
    #expect(inside.contains("<x-display>"), "\(inside)")
    editor.change(terminal, "!")
    _ = terminal.screen(showing: "* 1 change", "Entities")
    terminal.send("W")
    _ = terminal.screen(showing: "Write 1 change", "On disk")
    terminal.send("y")
    _ = terminal.screen(showing: "SHA-256 of the backup")
    #expect(!FileSystem.isFile(trap))
    let kept = Shell.output(of: "find '\(home)/kept' -type f", through: demo.folder + "/left")
    #expect(kept.isEmpty, "\(kept)")
    let stored = Shell.output(
      of: "'\(Shell.strata)' object '\(demo.store)' Recipe/p3 --json",
      through: demo.folder + "/output")
    #expect(stored.contains("The end!"), "\(stored)")
    #expect(stored.lowercased().contains("\\u001b]0;owned\\u0007"), "\(stored)")
    terminal.send("q")
    _ = terminal.screen(showing: "EXIT 0")
  }
}

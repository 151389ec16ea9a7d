import Files
import ManagedModel
import TestSupport
import Testing

@testable import Commands
@testable import strata

@Suite("A text in an editor")
struct TextEditorTests {
  @Test(
    "a text comes back as it was, whatever is in it",
    arguments: [
      "", "a", "a\n", "a\n\n", "two\nlines", "tab\tand \\ and \\u{1B}", "\u{1B}[2J", "a\r\nb",
      "\u{1B}\\", "\\\\\u{7}", "# vim: set fdm=expr:", "x\n-*- mode: lisp -*-\\", "\u{9B}31m",
      "é\u{301}",
    ], [true, false])
  func wholeWay(text: String, guardsModelines: Bool) throws {
    let form = EditedText(text, guardsModelines: guardsModelines)
    #expect(Array(try form.read(form.written).unicodeScalars) == Array(text.unicodeScalars))
    let controls = form.written.unicodeScalars.filter {
      $0.properties.generalCategory == .control && $0 != "\n" && $0 != "\t"
    }
    #expect(controls.isEmpty)
  }

  @Test("what an editor could obey is broken up where the editor is not known")
  func modelines() {
    for text in [
      "/* vim: set x: */", "vi:noai", "ex: x", "Local Variables:\neval: (x)", "-*- x -*-",
      "# vim700: set x:", "# vim>=700: set x:", "# VIM9:x", "# Vim: set x:", "# Ex: x",
    ] {
      let written = EditedText(text, guardsModelines: true).written.lowercased()
      for word in ["vim:", "vi:", "ex:", "-*-", "local variables:"] {
        #expect(!written.contains(word), "\(written)")
      }
      #expect(written.firstMatch(of: /vim?[<>=0-9]*:|ex:/) == nil, "\(written)")
    }
  }

  @Test("a backslash that begins no escape is refused in a text with escapes")
  func mistakes() {
    let form = EditedText("\u{1B}", guardsModelines: false)
    #expect(throws: CoreDataError.self) { try form.read("\\x\n") }
    #expect(throws: CoreDataError.self) { try form.read("\\u{110000}\n") }
    #expect(throws: CoreDataError.self) { try form.read("end \\") }
  }

  @Test("the command is split as a shell splits it, and nothing of it is run by one")
  func words() {
    #expect(ShellText.words("code --wait") == ["code", "--wait"])
    #expect(ShellText.words("'/my editor/ed' -x \"a b\"") == ["/my editor/ed", "-x", "a b"])
    #expect(ShellText.words("a\\ b $(c);d") == ["a b", "$(c);d"])
    #expect(ShellText.words("  ") == [])
  }

  @Test("an editor gets the text in a private file, and what it leaves is taken")
  func run() throws {
    let folder = try TemporaryFolder()
    let editor = folder.path("my editor")
    // Writes down what it is given, and changes the text.
    let script = """
      #!/bin/sh
      for word; do file=$word; done
      { stat -c %a "$file"; stat -c %a "$(dirname "$file")"; printf '%s\\n' "$file"; cat "$file"; } > '\(folder.path("seen"))'
      printf 'new\\\\u{1B}\\n' > "$file"
      """
    try OtherProgram.write(script: script, to: editor)
    let new = try TextEditor(environment: { $0 == "EDITOR" ? "'\(editor)' -x" : nil })
      .edit("# vim: set fde=system('touch x'):\n\u{1B}]0;x\u{7}")
    #expect(new == "new\u{1B}")
    let seen = String(
      decoding: try FileSystem.read(folder.path("seen"), limit: 10_000), as: UTF8.self
    )
    .split(separator: "\n")
    try #require(seen.count == 5)
    #expect(seen[0] == "600" && seen[1] == "700")
    #expect(seen[3].contains("vim\\u{3A}") && seen[4] == "\\u{1B}]0;x\\u{7}")
    #expect(FileIdentity(of: String(seen[2])) == nil)
  }

  @Test(
    "Vim with a window of its own is waited for",
    arguments: [("gvim", true), ("vim", true), ("nvim", false), ("ed", false)])
  func window(name: String, waits: Bool) {
    let kind = TextEditor.Kind("/no/such/\(name)") { _ in nil }
    #expect(kind.arguments.contains("-f") == waits)
    #expect(kind.arguments.contains("set nomodeline modelines=0") == (name != "ed"))
  }

  @Test("an editor that is not there, and one that fails, change nothing")
  func failures() {
    #expect(throws: CoreDataError.self) {
      try TextEditor(environment: { $0 == "EDITOR" ? "/no/such/editor" : nil }).edit("x")
    }
    #expect(throws: CoreDataError.self) {
      try TextEditor(environment: { $0 == "EDITOR" ? "/bin/false" : nil }).edit("x")
    }
    #expect(throws: Never.self) {
      let text = try TextEditor(environment: { $0 == "VISUAL" ? "/bin/true" : "/bin/false" }).edit(
        "x")
      #expect(text == nil)
    }
  }
}

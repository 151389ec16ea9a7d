import Files
import ManagedModel
import TestSupport
import Testing

@testable import Commands
@testable import ManagedStore
@testable import strata

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("Completions and the manual")
struct CompletionsTests {
  private static let shells = Completions.Shell.allCases

  @Test("every command and every option is completed", arguments: shells)
  func complete(shell: Completions.Shell) {
    let script = Captured("completions", shell.rawValue)
    #expect(script.status == .done)
    let words = Set(
      script.out.split { !($0.isLetter || $0.isNumber || $0 == "-") }.map(String.init))
    for command in CommandTable.commands {
      #expect(words.contains(command.name))
      for option in command.shownOptions {
        let form = shell == .fish ? "-l \(option.name)" : "--\(option.name)"
        #expect(script.out.contains(form), "\(command.name) \(form)")
        for choice in option.choices { #expect(words.contains(choice)) }
      }
    }
    #expect(!script.out.contains("--entities["))
  }

  @Test("one placeholder means one kind of thing in all commands, and a path is completed")
  func placeholders() {
    var kinds: [String: Declaration.Kind] = [:]
    for command in Completions.commands {
      for parameter in command.arguments + command.options where !parameter.isFlag {
        let known = kinds.updateValue(parameter.kind, forKey: parameter.placeholder)
        #expect(known ?? parameter.kind == parameter.kind, "\(command.name) \(parameter.name)")
      }
    }
    for name in ["STORE", "MODEL", "FILE", "PATH", "DIR", "ENTITY"] {
      #expect(kinds[name] != .text, "\(name)")
    }
  }

  @Test("an option takes a value in all commands or in none, but for --objects")
  func values() {
    let options = Completions.commands.flatMap(\.shownOptions)
    let flags = Set(options.filter(\.isFlag).map(\.name))
    let both = flags.intersection(options.filter { !$0.isFlag }.map(\.name))
    // A list of objects in one command, and how many in those that make them.
    #expect(both == ["objects"])
    #expect(both.isDisjoint(with: Completions.valued))
  }

  @Test("every command, every option and every status is in the manual")
  func manual() {
    let manual = Captured("man")
    #expect(manual.status == .done)
    let page = manual.out.replacing("\\-", with: "-")
    for command in Completions.commands {
      let sections = page.components(between: ".SS \(command.name): ", and: ".S")
      let text = command.name.isEmpty ? page : sections
      for option in command.shownOptions
      where !Command.common.contains(where: { $0.name == option.name }) {
        #expect(text.contains("--\(option.name)"), "\(command.name) --\(option.name)")
      }
    }
    for option in Command.common { #expect(page.contains("--\(option.name)")) }
    for status in CommandStatus.allCases { #expect(page.contains(".B \(status.rawValue)\n")) }
    for name in ["NO_COLOR", "COLORFGBG", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "TMPDIR"] {
      #expect(page.contains(".B \(name)\n"))
    }
    // A line that begins with a full stop is a request: only those meant are there.
    let requests = Set(
      page.split(separator: "\n").filter { $0.hasPrefix(".") }.map { $0.prefix(3) })
    #expect(
      requests.isSubset(of: [
        ".TH", ".SH", ".SS", ".TP", ".PP", ".B ", ".I ", ".RI", ".br", ".nf", ".fi", ".RS", ".RE",
      ]))
  }

  @Test("entities of a store are told for completions; of anything else nothing is said")
  func entities() throws {
    let folder = try TemporaryFolder()
    #expect(Captured("demo", folder.path, "--objects", "50", "--no-open").status == .done)
    let entities = Captured("completions", "--entities", folder.path("Recipes.sqlite"))
    #expect(entities.lines.contains("Recipe"))
    let nothing = Captured("completions", "--entities", folder.path("none"))
    #expect(nothing.status == .done)
    #expect(nothing.out + nothing.err == "")
  }

  /// What a shell prints; `nil` where there is no such shell.
  private static func output(of shell: String, _ words: String...) throws -> String? {
    var out: [UInt8] = []
    let result = try Subprocess.run(shell, words, environment: Subprocess.environment()) {
      out += $0
    }
    guard let result else { return nil }
    #expect(result.status == 0, "\(shell): \(result.message)")
    return String(decoding: out, as: UTF8.self)
  }

  /// Whether there is such a shell; it is said if none exists. bash is on every machine: in CI its tests
  /// run in any case, and fail without it.
  private static func has(_ shell: Completions.Shell) -> Bool {
    if shell == .bash, Tool.areRequired { return true }
    let isInstalled = (try? output(of: shell.rawValue, "-c", ":")) != nil
    if !isInstalled { print("skipped: \(shell.rawValue) is not installed") }
    return isInstalled
  }

  @Test("each shell reads its script", arguments: shells)
  func syntax(shell: Completions.Shell) throws {
    guard Self.has(shell) else { return }
    let folder = try TemporaryFolder()
    let script = folder.path("script")
    try Data(Captured("completions", shell.rawValue).out.utf8).write(to: URL(filePath: script))
    #expect(try Self.output(of: shell.rawValue, "-n", script) == "")
  }

  @Test("a printed word is pasted as it was, whatever is in it", arguments: shells.prefix(2))
  func quoting(shell: Completions.Shell) throws {
    #expect(ShellText.quoted("/a/b-1_2@v.sqlite") == "/a/b-1_2@v.sqlite")
    #expect(ShellText.quoted("it's") == #"'it'\''s'"#)
    #expect(ShellText.command("rows", "a\nb", "E") == #"strata rows $'a\nb' E"#)
    guard Self.has(shell) else { return }
    for word in [
      "", "a b", "it's $HOME", "a\nb\t'c'\\", "bell\u{7}1", "\u{202E}é\u{2028}😀", "*?[~#!",
    ] {
      let quoted = ShellText.quoted(word)
      #expect(!quoted.contains("\n"))
      #expect(try Self.output(of: shell.rawValue, "-c", "printf %s \(quoted)") == word, "\(quoted)")
    }
  }

  @Test(
    "bash completes commands, options, values, files and entities",
    .enabled(if: Tool.bash.isAvailable, "bash is not installed"))
  func bash() throws {
    let folder = try TemporaryFolder()
    #expect(Captured("demo", folder.path, "--objects", "50", "--no-open").status == .done)
    let script = folder.path("strata.bash")
    try Data(Captured("completions", "bash").out.utf8).write(to: URL(filePath: script))
    let store = folder.path("Recipes.sqlite")
    func complete(_ words: String...) throws -> String {
      let list = words.map { "'\($0)'" }.joined(separator: " ")
      // A function stands in for the program, which the tests have not on their path.
      return try #require(
        try Self.output(
          of: "bash", "-c",
          """
          source '\(script)'; strata() { printf 'Person\\nRecipe\\n'; }
          COMP_WORDS=(strata \(list)); COMP_CWORD=\(words.count); _strata
          echo "${COMPREPLY[*]}"
          """))
    }
    #expect(try complete("roll") == "rollback\n")
    #expect(try complete("rows", store, "R") == "Recipe\n")
    #expect(try complete("rows", "--limit", "3", store, "") == "Person Recipe\n")
    #expect(
      try complete("rows", store, "Recipe", "--format", "") == "table json ndjson csv markdown\n")
    #expect(try complete("rows", store, "Recipe", "--format", "=", "nd") == "ndjson\n")
    #expect(try complete("model", store, "--format", "m") == "mermaid\n")
    #expect(try complete("rollback", store, "--n") == "--no-backup\n")
    #expect(try complete("info", folder.path("Rec")).contains(store))
    #expect(try complete(store, "--th") == "--theme\n")
    #expect(try complete("--json", "ha") == "hash\n")
  }
}

extension String {
  fileprivate func components(between start: String, and end: String) -> String {
    guard let from = ranges(of: start).first?.upperBound else { return "" }
    let rest = self[from...]
    return String(rest.ranges(of: "\n" + end).first.map { rest[..<$0.lowerBound] } ?? rest)
  }
}

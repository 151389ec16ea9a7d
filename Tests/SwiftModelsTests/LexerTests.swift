import Testing

@testable import SwiftModels

@Suite("Tokens of Swift source")
struct LexerTests {
  private func texts(_ source: String) -> [String] {
    SwiftLexer(Array(source.utf8)).tokens.map(\.text)
  }

  private func problems(_ source: String) -> [String] {
    SwiftLexer(Array(source.utf8)).problems.map(\.message)
  }

  @Test(
    "strings of every form are one token each",
    arguments: [
      (#"let a = "}" ;"#, "}"), (#"let a = "a\"}\n" ;"#, "a\"}\n"),
      (##"let a = #"a "} \n"# ;"##, #"a "} \n"#), (##"let a = #"""# ;"##, "\""),
      ("let a = \"\"\"\n  one \"two\" {\n   three\n  \"\"\" ;", "one \"two\" {\n three"),
      ("let a = #\"\"\"\n\\(x) \"\"\" {\n\"\"\"# ;", "\\(x) \"\"\" {"), (#"let a = "" ;"#, ""),
      (#"let a = "\u{e9}\\" ;"#, "é\\"),
    ])
  func strings(source: String, value: String) {
    let tokens = SwiftLexer(Array(source.utf8)).tokens
    #expect(tokens.map(\.text) == ["let", "a", "=", value, ";"])
    #expect(tokens.dropFirst(3).first?.kind == .string)
    #expect(problems(source).isEmpty)
  }

  @Test(
    "interpolations may hold strings, brackets and comments",
    arguments: [
      #"let a = "x \("y \(f(")")) {") }" ;"#, ##"let a = #"\( " \#("}" + #"""#) "# ;"##,
      #"let a = "\(b /* ") */ + 1)" ;"#,
      "let a = \"\"\"\n\\(\"\"\"\n}\n\"\"\")\n\"\"\" ;",
    ])
  func interpolations(source: String) {
    let tokens = SwiftLexer(Array(source.utf8)).tokens
    #expect(tokens.map(\.text) == ["let", "a", "=", "", ";"])
    #expect(tokens.dropFirst(3).first?.kind == .interpolatedString)
    #expect(problems(source).isEmpty)
  }

  @Test("comments nest, and lines are counted through them")
  func comments() {
    let tokens = SwiftLexer(Array("a /* { /* \n } */ \" */ b // }\nc".utf8)).tokens
    #expect(tokens.map(\.text) == ["a", "b", "c"])
    #expect(tokens.map(\.line) == [1, 2, 3])
  }

  @Test("a comment to strata is kept with its line")
  func notes() {
    let lexer = SwiftLexer(Array("a\n// strata:disable no-path\n/// other\nb".utf8))
    #expect(lexer.notes.map(\.line) == [2])
    #expect(lexer.notes.map(\.text) == ["disable no-path"])
  }

  @Test("regular expressions are told from divisions")
  func regularExpressions() {
    #expect(texts("x = /a\"}{2}/ ; b") == ["x", "=", "/a\"}{2}/", ";", "b"])
    #expect(texts("x = a / b / c") == ["x", "=", "a", "/", "b", "/", "c"])
    #expect(texts("x = #/ \" } /# ; b") == ["x", "=", "#/ \" } /#", ";", "b"])
    #expect(texts("f(+, /)") == ["f", "(", "+", ",", "/", ")"])
  }

  @Test("branches of #if are all taken, but those that are false")
  func conditions() {
    let tokens = SwiftLexer(
      Array("a\n#if os(iOS) // {\nb\n#else\nc\n#endif\n#if false\nd {\n#else\ne\n#endif\nf".utf8)
    ).tokens
    #expect(tokens.map(\.text) == ["a", "b", "c", "e", "f"])
    #expect(tokens.map(\.conditions) == [0, 1, 1, 1, 0])
  }

  @Test("numbers end before a member or a range")
  func numbers() {
    #expect(
      texts("0x1F 1_0.5e-3 1..<2 1.min 0x1e-2")
        == ["0x1F", "1_0.5e-3", "1", ".", ".", "<", "2", "1", ".", "min", "0x1e", "-", "2"])
  }

  @Test("what is never closed is named, and ends where it must")
  func unclosed() {
    #expect(problems("let a = \"x\nb") == ["a string is never closed"])
    #expect(texts("let a = \"x\nb").last == "b")
    #expect(problems("/* a /* b */") == ["a comment is never closed"])
    #expect(problems("\"\"\"\n a") == ["a string is never closed"])
    #expect(problems("#if a") == ["an #if without its #endif"])
  }
}

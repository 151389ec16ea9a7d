/// What the declarations of one file of Swift source say.
struct SwiftFile: Sendable {
  /// Its path, as it was given.
  let path: String
  /// All that is declared in it.
  let declarations: TypeDeclaration
  /// The containers that it makes, and the schemas that it writes down for containers.
  let containers: ContainerReader
  /// What could not be read.
  let remarks: [SourceRemark]
  /// What comments that begin with `strata:` say, by line.
  let notes: [(line: Int, text: String)]

  /// Reads source; any bytes give something.
  init(path: String, bytes: [UInt8]) {
    self.path = path
    let lexer = SwiftLexer(bytes)
    notes = lexer.notes
    var reader = DeclarationReader(lexer.tokens)
    var file = TypeDeclaration(kind: .file, name: [], line: 1)
    reader.members(of: &file, depth: 0)
    declarations = file
    containers = ContainerReader(reader)
    var problems = lexer.problems + reader.problems
    let read = Set(reader.modelLines)
    for line in Self.modelLines(lexer.tokens) where !read.contains(line) {
      problems.append((line, "a @Model here could not be read"))
    }
    remarks = problems.sorted { $0.line < $1.line }.map {
      SourceRemark(SourcePlace(path: path, line: $0.line), $0.message)
    }
  }

  /// Lines on which `@Model` stands before a declaration.
  private static func modelLines(_ tokens: [SwiftToken]) -> [Int] {
    zip(tokens, tokens.dropFirst()).compactMap { mark, name in
      mark.isMark("@") && name.isWord("Model") ? mark.line : nil
    }
  }
}

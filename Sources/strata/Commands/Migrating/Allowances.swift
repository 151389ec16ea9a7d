import Files
import JSON
import ManagedModel
import ManagedStore

/// The losses that `--allow-loss` and `--allow-loss-file` allow, with where each was named.
struct Allowances: Sendable, Equatable {
  /// `Entity`, `Entity.property` or `wal`.
  private(set) var names: Set<String> = []
  /// The file and line of those that a file names.
  private var places: [String: String] = [:]

  static let help = """
    A file for --allow-loss-file has a name a line, with reasons behind #:
      Recipe.legacyCode        # reviewed: nothing reads it since 2.0
      Draft
    or is a JSON5 list of names: ["Recipe.legacyCode", "Draft"].
    """

  /// - Throws: ``CoreDataError`` of kind usage for a file that is no list of names, with the line.
  init(_ arguments: Arguments) throws {
    names = Set(arguments[.allowLoss])
    for path in arguments[.allowLossFile] {
      for (name, line) in try Self.read(try InputText.text(of: path), path)
      where names.insert(name).inserted {
        places[name] = "\(path):\(line)"
      }
    }
  }

  /// What a name is called in a message: by its option, or by its place in a file.
  func label(of name: String) -> String {
    places[name].map { "\($0): \(name)" } ?? "--allow-loss \(name)"
  }

  private static func read(_ text: String, _ path: String) throws -> [(name: String, line: Int)] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let first = lines.lazy.map { content(of: $0) }.first { !$0.isEmpty && !$0.hasPrefix("//") }
    if let first, first.hasPrefix("[") { return try list(text, path) }
    return try lines.enumerated().compactMap { index, line in
      let name = content(of: line)
      guard !name.isEmpty else { return nil }
      guard !name.contains(where: { $0.isWhitespace || "{}[]\",:".contains($0) }) else {
        throw wrong("“\(name)” is no name of a loss", path, index + 1)
      }
      return (name, index + 1)
    }
  }

  /// A line without its comment.
  private static func content(of line: Substring) -> String {
    line.prefix { $0 != "#" }.trimmed
  }

  private static func list(_ text: String, _ path: String) throws -> [(name: String, line: Int)] {
    let bytes = Array(text.utf8)
    func line(_ place: Int) -> Int { bytes.prefix(max(0, place)).count { $0 == 10 } + 1 }
    let json: JSON5
    do {
      json = try JSON5.read(bytes)
    } catch {
      throw wrong(error.message, path, line(error.range.lowerBound))
    }
    guard case .array(let elements) = json.kind else {
      throw wrong("a list of names is expected", path, 1)
    }
    return try elements.map { element in
      guard case .string(let name, _) = element.kind, !name.isEmpty else {
        throw wrong(
          "a loss is named by text in quotes, not \(element.name)", path,
          line(element.range.lowerBound))
      }
      return (name, line(element.range.lowerBound))
    }
  }

  private static func wrong(_ message: String, _ path: String, _ line: Int) -> CoreDataError {
    CoreDataError(
      .usage, "\(message) (line \(line))", path: path,
      hint: "Write a name a line, such as Recipe.legacyCode, with comments behind #.")
  }
}

extension Allowances: ExpressibleByArrayLiteral {
  init(arrayLiteral names: String...) { self.names = Set(names) }
}

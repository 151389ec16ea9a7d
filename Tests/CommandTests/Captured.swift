import Files
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Commands
@testable import strata

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A command run in this process, with what it wrote.
struct Captured {
  let status: CommandStatus
  let out: String
  let err: String

  init(_ words: String..., terminal: Bool = false) { self.init(words, terminal: terminal) }

  init(
    _ words: [String], terminal: Bool = false, width: Int = 100,
    environment: [String: String] = [:]
  ) {
    var (out, err): ([UInt8], [UInt8]) = ([], [])
    status = CommandLineTool.run(
      words,
      console: Console(
        isTerminal: terminal, width: width, environment: { environment[$0] }, out: { out += $0 },
        err: { err += $0 }))
    self.out = String(decoding: out, as: UTF8.self)
    self.err = String(decoding: err, as: UTF8.self)
    if words.first == "migrate", status == .done { readAgain(words) }
  }

  /// What a migration made is read by the second reader too.
  private func readAgain(_ words: [String]) {
    for path in words.dropFirst() where path.hasSuffix(".sqlite") && FileSystem.isFile(path) {
      #expect(throws: Never.self) { try SecondReader.expectAgreement(at: path) }
    }
  }

  /// JSON in a file, decoded.
  static func decoded<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws -> T {
    try JSONDecoder().decode(type, from: Data(bytes))
  }

  /// The JSON that was written, decoded.
  func decoded<T: Decodable>(_ type: T.Type) throws -> T {
    try JSONDecoder().decode(type, from: Data(out.utf8))
  }

  var lines: [Substring] { out.split(separator: "\n") }

  /// What was written, in one line: wherever it was broken.
  var flat: String { out.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}

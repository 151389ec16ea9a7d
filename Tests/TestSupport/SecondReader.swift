import Files
import ManagedModel
import ManagedStore
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Tests/Independent/reader.py, and atomic.py for XML and binary stores: readers that share nothing with strata but the
/// formats.
///
/// What migrates and what verifies use one schema, so that a mistake in it would pass. This reader
/// computes names from the model in the store as Core Data does, and errs where they are not there.
public final class SecondReader: Sendable {
  /// Whether python3 is there to run it; where it must be, what asks this reader fails without it.
  public static let isAvailable = shared != nil || Tool.areRequired

  private static let shared = SecondReader("reader.py")
  private static let atomic = SecondReader("atomic.py")

  private struct Pipes {
    var input: UnsafeMutablePointer<FILE>
    var output: UnsafeMutablePointer<FILE>
  }

  /// One process serves all tests, one question at a time.
  private let pipes: Mutex<Pipes>

  private init?(_ script: String) {
    let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false)
      .dropLast(2).joined(separator: "/")
    guard
      let pipes = Self.start(["python3", "-B", folder + "/Independent/" + script, "--serve"])
    else { return nil }
    self.pipes = Mutex(pipes)
    // Where python3 is missing the first question has no answer.
    guard (try? ask(["/nowhere"]))?.first?.hasPrefix("error: ") == true else { return nil }
  }

  /// What the store at a path holds by the second reader's word: a line an object.
  ///
  /// - Parameter externalData: where its large values lie, if not beside it.
  /// - Throws: ``SecondReaderError`` where it does not find its way in the store.
  public static func lines(at path: String, externalData: String? = nil) throws -> [String] {
    guard let shared else { throw SecondReaderError.message("there is no python3") }
    let answer = try shared.ask([path] + (externalData.map { [$0] } ?? []))
    if let first = answer.first, first.hasPrefix("error: ") {
      throw SecondReaderError.message(first)
    }
    return answer
  }

  /// What an XML or binary store has that the store of the SQLite type that was made of it has not, and the other way
  /// round, by the second reader's word; empty where they are equal.
  public static func differences(ofAtomic path: String, from made: String) throws -> [String] {
    guard let atomic else { throw SecondReaderError.message("there is no python3") }
    return try atomic.ask([path, made])
  }

  /// The same of strata's own reader: every value as it is stored, reals as their bits.
  public static func strataLines(_ store: Store) throws -> [String] {
    var lines: [String] = []
    for entity in store.model.entities.sorted(by: { $0.name.precedes($1.name) })
    where store.table(of: entity.name) != nil {
      let cursor = try ObjectCursor(store, entity: entity.name)
      while let object = try cursor.next() {
        var parts: [String] = []
        for (entry, value) in zip(cursor.table.attributes, object.attributes) {
          parts.append(entry.attribute.name + "=" + text(value, of: entry.attribute))
        }
        for (entry, related) in zip(cursor.table.relationships, object.relationships) {
          let ids =
            switch related {
            case .toOne(let id): id.map { [$0] } ?? []
            case .toMany(let ids): ids
            }
          parts.append(
            entry.relationship.name + ">" + ids.map(\.description).joined(separator: ","))
        }
        lines.append(
          "\(entity.name)/p\(object.key) " + parts.sorted { $0.precedes($1) }.joined(separator: " ")
        )
      }
    }
    return lines
  }

  /// What the two readers do not agree on; empty where they do.
  public static func disagreements(at path: String, _ store: Store? = nil) throws -> [String] {
    let store = try store ?? Store(path: path)
    let ours = try strataLines(store)
    let theirs: [String]
    do {
      theirs = try lines(at: path, externalData: store.files.externalDataFolder)
    } catch SecondReaderError.message(let text) {
      return ["the second reader: " + text]
    }
    let (one, other) = (Set(ours), Set(theirs))
    return ours.filter { !other.contains($0) }.map { "strata alone: " + $0 }
      + theirs.filter { !one.contains($0) }.map { "the second reader alone: " + $0 }
  }

  private static func text(_ value: PropertyValue, of attribute: Attribute) -> String {
    func hash(_ bytes: [UInt8]) -> String { ByteText.hex(Digest.sha256(bytes)) }
    func real(_ number: Double) -> String {
      let digits = String(number.bitPattern, radix: 16)
      return "r" + String(repeating: "0", count: 16 - digits.count) + digits
    }
    return switch value {
    case .value(.null): "-"
    case .value(.integer(let number)): "i\(number)"
    case .value(.boolean(let flag)): flag ? "i1" : "i0"
    case .value(.date(let number)), .value(.double(let number)): real(number)
    case .value(.decimal(let text)): Double(text).map(real) ?? text
    case .value(.string(let text)), .value(.uri(let text)): "t" + hash(Array(text.utf8))
    case .value(.uuid(let bytes)), .value(.bytes(let bytes)): "b" + hash(bytes)
    case .data(let data): !data.isReadable ? "missing" : "b" + hash(data.bytes)
    case .toOne, .toMany: "a relationship"
    }
  }

  /// - Parameter words: sent in hexadecimal: a path may have any character.
  private func ask(_ words: [String]) throws -> [String] {
    let question = words.map { ByteText.hex(Array($0.utf8)) }.joined(separator: "\t")
    return try pipes.withLock { pipes in
      guard fputs(question + "\n", pipes.input) >= 0, fflush(pipes.input) == 0,
        let first = Self.line(from: pipes.output)
      else { throw SecondReaderError.message("the second reader has ended") }
      guard let count = Int(first) else { return [first] }
      var lines: [String] = []
      for _ in 0..<count {
        guard let line = Self.line(from: pipes.output) else {
          throw SecondReaderError.message("the second reader has ended in mid-answer")
        }
        lines.append(line)
      }
      return lines
    }
  }

  private static func line(from file: UnsafeMutablePointer<FILE>) -> String? {
    var buffer: UnsafeMutablePointer<CChar>?
    var size = 0
    defer { free(buffer) }
    let count = getline(&buffer, &size, file)
    guard count > 0, let buffer else { return nil }
    let bytes = UnsafeRawBufferPointer(start: buffer, count: count)
    return String(
      decoding: bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...], as: UTF8.self)
  }

  private static func start(_ words: [String]) -> Pipes? {
    // A question to a reader that has ended is an error here, not the end of the tests.
    signal(SIGPIPE, SIG_IGN)
    var question: [Int32] = [0, 0]
    var answer: [Int32] = [0, 0]
    guard pipe(&question) == 0, pipe(&answer) == 0 else { return nil }
    for end in question + answer { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let start = ProgramStart()
    start.duplicate(question[0], as: 0)
    start.duplicate(answer[1], as: 1)
    let process = start.start(words[0], Array(words.dropFirst()))
    close(question[0])
    close(answer[1])
    guard process != nil, let input = fdopen(question[1], "w"), let output = fdopen(answer[0], "r")
    else { return nil }
    return Pipes(input: input, output: output)
  }
}

/// Why the second reader could not read.
public enum SecondReaderError: Error {
  case message(String)
}

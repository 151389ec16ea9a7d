import ManagedModel
import ManagedStore

/// A value that was unpacked and unfolded, as text.
package struct DecodedText: Sendable, Equatable {
  /// Lines of it; what comes behind them is shown as `…`.
  private static let mostLines = 20_000

  /// What it is decoded from: `gzip of keyed archive`.
  package var heading: String
  /// Why it is not decoded as a whole, as a clause.
  package var problem: String?
  package var content: StoredContent

  /// - Returns: `nil` where there is no value, or its form is not known.
  init?(of property: String, in object: ObjectID, _ store: Store) throws {
    guard
      let stored = try store.content(of: property, in: object, count: DecodedData.mostBytes),
      stored.location.problem == nil
    else { return nil }
    let data = DecodedData(stored.bytes, isWhole: stored.bytes.count == stored.total)
    let content = data.content(maximumLines: Self.mostLines)
    let lines = data.lines(of: content, maximumLines: Self.mostLines, longest: .max)
    // Text as it stands is read piece by piece, however long it is.
    guard !lines.isEmpty, data.layers > 0 || content.kind != .text else { return nil }
    self.init(data.heading, lines, problem: data.problem)
  }

  init(_ heading: String, _ lines: [String], problem: String? = nil) {
    let bytes = Array(lines.joined(separator: "\n").utf8)
    (self.heading, self.problem) = (heading, problem)
    content = StoredContent(total: bytes.count, offset: 0, bytes: bytes, isText: true)
  }

  /// Whether a value may have a form that is known, by its beginning.
  static func isPossible(_ part: StoredContent) -> Bool {
    switch DataKind(Array(part.bytes.prefix(4_096)), isWhole: part.total <= 4_096) {
    case .gzip, .keyedArchive, .propertyList, .json: true
    case .empty, .image, .pdf, .text, .bytes: false
    }
  }
}

/// A value that is to be written to a file of its own.
package struct ValueOutput: Sendable, Equatable {
  package var object: ObjectID
  package var property: String
  /// Where it is to be written: never over another file.
  package var path: String

  /// A name of its own in the folder that the program was started in, with the extension that its content has.
  static func name(of property: String, in object: ObjectID, _ part: StoredContent) -> String {
    let head = Array(part.bytes.prefix(FileExtension.headLength))
    let kind = FileExtension(head, isWhole: head.count == part.total)
    var none: Set<String> = []
    let entity = SafeName.make(of: object.entity, besides: &none)
    none = []
    let name = SafeName.make(of: property, besides: &none)
    // Of a text that is too long to be looked at as a whole the beginning decides.
    let isText = kind == .bin && part.isText && part.total > 0
    return "\(entity)-p\(object.key)-\(name).\((isText ? .txt : kind).rawValue)"
  }
}

/// A kind of store that Core Data reads whole and writes whole: an atomic store.
///
/// The extension says nothing of the kind; the first bytes do (atomic-stores, checked on 271 stores of 14 programs).
package enum AtomicStoreForm: String, Sendable, CaseIterable {
  /// NSXMLStoreType, which macOS alone has.
  case xml = "XML"
  /// NSBinaryStoreType.
  case binary = "Binary"

  /// The first bytes of a binary store: a name, the version of its header, and that of the format.
  package static let binaryMagic = Array("CoreData".utf8) + [0, 0, 0, 1, 8, 4, 8, 0]
  /// How many of the first bytes decide.
  package static let headSize = 512

  /// What it is called.
  package var noun: String {
    switch self {
    case .xml: "an XML store"
    case .binary: "a binary store"
    }
  }

  /// Whether a file that begins with these few bytes may be an XML store, which only more of them show.
  package static func needsMore(than head: [UInt8]) -> Bool {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let text = head.starts(with: mark) ? head.dropFirst(3) : head[...]
    return ["<?xml", "<!DOC", "<data"].contains { text.starts(with: $0.utf8) }
  }

  /// - Parameter head: the first bytes of a file, ``headSize`` of them where it has so many.
  /// - Returns: `nil` for any other file.
  package init?(head: [UInt8]) {
    if head.starts(with: Self.binaryMagic.prefix(8)) {
      self = .binary
      return
    }
    var text = head[...]
    if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
    let blank: Set<UInt8> = [9, 10, 13, 32]
    text = text.drop { blank.contains($0) }
    guard text.first == UInt8(ascii: "<") else { return nil }
    let words = String(decoding: text, as: UTF8.self)
    let isDocument = words.hasPrefix("<?xml") || words.hasPrefix("<!DOCTYPE database")
    guard
      words.hasPrefix("<database>") || isDocument && words.contains("<database")
        || isDocument
          && words.contains("<!DOCTYPE database ")
    else { return nil }
    self = .xml
  }
}

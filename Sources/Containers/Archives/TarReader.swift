import ManagedModel

/// A tar archive, read as its bytes come.
struct TarReader {
  /// What a member is, by its header and the attributes before it.
  struct Member {
    var name: String
    var kind: ContainerEntry.Kind
    var bytes: Int
  }

  /// What is done with members.
  struct Visitor {
    /// A member begins.
    ///
    /// - Returns: whether its bytes are wanted.
    var begin: (Member) throws -> Bool
    var data: (ArraySlice<UInt8>) throws -> Void = { _ in }
    var end: () throws -> Void = {}
  }

  /// What ends the reading of an archive that is damaged: what came before it is sound.
  struct Damage: Error {
    var error: CoreDataError
  }

  /// What blocks before a member say of it.
  private struct Attributes {
    var name: String?
    var bytes: Int?
    /// Whether its holes are left out, so that its bytes are not as they are read.
    var isSparse = false
  }

  private enum Content {
    case skipped
    case wanted
    /// Attributes of the next member, by the type of their header.
    case attributes(UInt8)
  }

  private var block: [UInt8] = []
  private var content = Content.skipped
  private var left = 0
  private var padding = 0
  private var collected: [UInt8] = []
  private var attributes = Attributes()
  private var emptyBlocks = 0
  private(set) var last = ""
  /// Whether the archive says that it ends here.
  private(set) var isAtEnd = false

  private static let attributesLimit = 1 << 20

  /// How many of the next bytes nobody wants to see.
  var skippable: Int { if case .skipped = content { left + padding } else { 0 } }

  /// Whether it would be cut off if nothing followed.
  var isIncomplete: Bool { left > 0 || !block.isEmpty }

  /// Passes over bytes that are ``skippable``.
  mutating func skip(_ count: Int) {
    let content = min(left, count)
    left -= content
    padding -= min(padding, count - content)
  }

  mutating func read(_ bytes: ArraySlice<UInt8>, _ visitor: Visitor) throws {
    var rest = bytes
    while !rest.isEmpty, !isAtEnd {
      if left > 0 {
        let part = rest.prefix(left)
        left -= part.count
        rest = rest.dropFirst(part.count)
        switch content {
        case .skipped: break
        case .wanted: try visitor.data(part)
        case .attributes: collected += part
        }
        if left == 0 { try finish(visitor) }
      } else if padding > 0 {
        let count = min(padding, rest.count)
        padding -= count
        rest = rest.dropFirst(count)
      } else {
        let part = rest.prefix(TarHeader.size - block.count)
        block += part
        rest = rest.dropFirst(part.count)
        if block.count == TarHeader.size { try begin(visitor) }
      }
    }
  }

  private mutating func begin(_ visitor: Visitor) throws {
    defer { block.removeAll(keepingCapacity: true) }
    if !block.contains(where: { $0 != 0 }) {
      emptyBlocks += 1
      isAtEnd = emptyBlocks == 2
      return
    }
    emptyBlocks = 0
    guard let header = TarHeader(block) else {
      throw Damage(
        error: CoreDataError(
          .unreadable,
          last.isEmpty
            ? "not a tar archive"
            : "the tar archive is damaged after \(EntryName.quoted(last))",
          hint: "Ask for it again, or unpack what is left of it and give the folder."))
    }
    switch header.type {
    case UInt8(ascii: "x"), UInt8(ascii: "g"), UInt8(ascii: "L"), UInt8(ascii: "K"):
      guard header.bytes <= Self.attributesLimit else {
        throw CoreDataError(
          .unreadable, "the tar archive has a name of \(header.bytes) bytes",
          hint: "The archive is damaged or malicious: ask for another.")
      }
      collected = []
      take(.attributes(header.type), header.bytes)
    default:
      let isFolder = attributes.name == nil && header.name.utf8.last == UInt8(ascii: "/")
      var member = Member(
        name: attributes.name ?? header.name,
        kind: isFolder ? .folder : Self.kind(header.type),
        bytes: attributes.bytes ?? header.bytes)
      if attributes.isSparse { member.kind = .other }
      attributes = Attributes()
      last = member.name
      // Links and folders may state a size, and have no bytes.
      let size = "123456".utf8.contains(header.type) ? 0 : member.bytes
      if member.kind != .file { member.bytes = 0 }
      let isWanted = try visitor.begin(member)
      take(isWanted ? .wanted : .skipped, size)
    }
    if left == 0 { try finish(visitor) }
  }

  private mutating func take(_ content: Content, _ bytes: Int) {
    self.content = content
    left = bytes
    padding = (TarHeader.size - bytes % TarHeader.size) % TarHeader.size
  }

  private mutating func finish(_ visitor: Visitor) throws {
    switch content {
    case .skipped: break
    case .wanted: try visitor.end()
    case .attributes(let type):
      switch type {
      case UInt8(ascii: "L"): attributes.name = TarHeader.text(collected[...])
      case UInt8(ascii: "x"): readAttributes()
      default: break
      }
    }
    content = .skipped
  }

  /// Lines of `LENGTH KEY=VALUE`, the length being that of the whole line.
  private mutating func readAttributes() {
    var rest = collected[...]
    while let space = rest.firstIndex(of: 0x20),
      let length = Int(String(decoding: rest[..<space], as: UTF8.self)),
      length > space - rest.startIndex + 1, length <= rest.count
    {
      let line = rest[(space + 1)..<(rest.startIndex + length)].dropLast()
      rest = rest.dropFirst(length)
      guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else { continue }
      let key = String(decoding: line[..<equals], as: UTF8.self)
      let value = String(decoding: line[(equals + 1)...], as: UTF8.self)
      switch key {
      case "path": attributes.name = value
      case "size": attributes.bytes = Int(value).flatMap { $0 >= 0 && $0 < 1 << 60 ? $0 : nil }
      case _ where key.hasPrefix("GNU.sparse."): attributes.isSparse = true
      default: break
      }
    }
  }

  private static func kind(_ type: UInt8) -> ContainerEntry.Kind {
    switch type {
    case UInt8(ascii: "0"), UInt8(ascii: "7"): .file
    case UInt8(ascii: "1"), UInt8(ascii: "2"): .link
    case UInt8(ascii: "5"): .folder
    default: .other
    }
  }
}

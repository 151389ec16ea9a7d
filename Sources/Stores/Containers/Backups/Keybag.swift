import ManagedModel
import Salvage

/// The keybag of an encrypted backup: class keys, each wrapped with a key that comes from the password.
///
/// It is a row of blocks: a tag of four letters, a length of four bytes with the most significant first,
/// and so many bytes. The blocks of the bag itself come first. Each later `UUID` begins a class key.
struct Keybag: Equatable {
  /// A key of a protection class.
  struct ClassKey: Equatable {
    var number: UInt32
    /// Which keys it is wrapped with: bit 0 for the device's own, bit 1 for the password's.
    var wrap: UInt32
    /// The key as RFC 3394 wraps it.
    var wrapped: [UInt8]

    var isWrappedByDevice: Bool { wrap & 1 != 0 }
    var isWrappedByPassword: Bool { wrap & 2 != 0 }
  }

  /// How a password is made slow to guess: salt and rounds of PBKDF2.
  struct Stretching: Equatable {
    var salt: [UInt8]
    var rounds: Int
  }

  /// The first derivation, with SHA-256; backups of early systems have none.
  private(set) var first: Stretching?
  /// The second derivation, with SHA-1.
  private(set) var second: Stretching
  private(set) var classKeys: [ClassKey] = []

  /// Most rounds of a derivation: Apple's own backups have 10,000,000 in the first and 10,000 in the second.
  static let mostRounds = 50_000_000
  /// Bytes of a key as it is wrapped: eight more than the key.
  static let wrappedCount = 40
  private static let mostBytes = 1 << 16
  private static let mostSalt = 1024
  private static let mostKeys = 256

  /// Reads the bytes of a keybag.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable where a length is beyond the end, where a part that the
  ///   derivation needs is missing, and where the number of rounds is one that would take minutes.
  init(_ bytes: [UInt8]) throws(CoreDataError) {
    guard bytes.count <= Self.mostBytes else { throw Self.damaged("it is larger than 64 KB") }
    var values: [String: [UInt8]] = [:]
    var keys: [[String: [UInt8]]] = []
    var place = 0
    var isInBag = false
    while place < bytes.count {
      guard place + 8 <= bytes.count else { throw Self.damaged("a block is cut off") }
      let tag = String(decoding: bytes[place..<(place + 4)], as: UTF8.self)
      let length = Int(BigEndian.word(bytes, place + 4))
      guard length <= bytes.count - place - 8 else {
        throw Self.damaged("the length of a block is beyond its end")
      }
      let value = Array(bytes[(place + 8)..<(place + 8 + length)])
      place += 8 + length
      if tag == "UUID" {
        guard isInBag else {
          isInBag = true
          continue
        }
        guard keys.count < Self.mostKeys else { throw Self.damaged("it has too many keys") }
        keys.append([:])
      } else if keys.isEmpty {
        // Of a tag that comes twice, the first is the bag's.
        values[tag] = values[tag] ?? value
      } else {
        keys[keys.count - 1][tag] = value
      }
    }
    guard let second = try Self.stretching(values["SALT"], values["ITER"]) else {
      throw Self.damaged("its salt or its number of rounds is missing")
    }
    self.second = second
    first = try Self.stretching(values["DPSL"], values["DPIC"])
    for key in keys {
      guard let number = Self.number(key["CLAS"]), let wrap = Self.number(key["WRAP"]),
        let wrapped = key["WPKY"]
      else { continue }
      guard wrapped.count == Self.wrappedCount else {
        throw Self.damaged("the key of class \(number) has \(wrapped.count) bytes, not 40")
      }
      classKeys.append(ClassKey(number: number, wrap: wrap, wrapped: wrapped))
    }
    guard classKeys.contains(where: \.isWrappedByPassword) else {
      throw Self.damaged("no key in it is wrapped with the password")
    }
  }

  /// Rounds of both derivations.
  var rounds: Int { (first?.rounds ?? 0) + second.rounds }

  /// - Returns: `nil` where neither is there.
  private static func stretching(
    _ salt: [UInt8]?, _ rounds: [UInt8]?
  ) throws(CoreDataError) -> Stretching? {
    guard salt != nil || rounds != nil else { return nil }
    guard let salt, (1...mostSalt).contains(salt.count), let rounds = number(rounds), rounds > 0
    else { throw damaged("its salt or its number of rounds is damaged") }
    guard rounds <= mostRounds else {
      throw CoreDataError(
        .unreadable,
        "the keybag asks for \(NumberText.grouped(Int(rounds))) rounds of key derivation; no backup of Apple's has more than 10,000,000",
        hint: "The backup is damaged or malicious: make another.")
    }
    return Stretching(salt: salt, rounds: Int(rounds))
  }

  private static func number(_ bytes: [UInt8]?) -> UInt32? {
    bytes.flatMap { $0.count == 4 ? BigEndian.word($0, 0) : nil }
  }

  private static func damaged(_ what: String) -> CoreDataError {
    CoreDataError(
      .unreadable, "the keybag in Manifest.plist is damaged: \(what)",
      hint: "No password opens this backup: use another copy of it, or make a new backup.")
  }
}

/// What a file with some content is to be called, determined by the content: the part behind the point.
package enum FileExtension: String, CaseIterable, Sendable {
  case png, jpg, heic, gif, tiff, webp, pdf, gz, zip, plist, json, txt, mp3, m4a, caf, wav, mov, mp4
  /// Anything else.
  case bin

  /// As many bytes as decide.
  package static let headLength = 1 << 16

  /// - Parameters:
  ///   - head: the content, or its beginning.
  ///   - isWhole: whether nothing was cut off.
  package init(_ head: [UInt8], isWhole: Bool) {
    if let media = Self.media(head) {
      self = media
      return
    }
    switch DataKind(head, isWhole: isWhole) {
    case .image(let image, _):
      self =
        switch image {
        case .png: .png
        case .jpeg: .jpg
        case .gif: .gif
        case .heic: .heic
        case .webp: .webp
        case .tiff: .tiff
        }
    case .pdf: self = .pdf
    case .gzip: self = .gz
    case .keyedArchive, .propertyList: self = .plist
    case .json: self = .json
    case .text: self = .txt
    case .empty, .bytes: self = .bin
    }
  }

  /// Sound, film and ZIP.
  private static func media(_ head: [UInt8]) -> FileExtension? {
    func has(_ text: String, at offset: Int) -> Bool {
      offset + text.utf8.count <= head.count && head.dropFirst(offset).starts(with: text.utf8)
    }
    if has("PK\u{03}\u{04}", at: 0) || has("PK\u{05}\u{06}", at: 0) { return .zip }
    if has("caff", at: 0) { return .caf }
    if has("RIFF", at: 0), has("WAVE", at: 8) { return .wav }
    if has("ID3", at: 0) { return .mp3 }
    // A frame of MPEG audio, layer III: eleven bits set, then the version and the layer.
    if head.count >= 4, head[0] == 0xFF, head[1] & 0xE6 == 0xE2, head[2] & 0xF0 != 0xF0 {
      return .mp3
    }
    if has("ftyp", at: 4) {
      if has("M4A", at: 8) || has("M4B", at: 8) { return .m4a }
      if has("qt  ", at: 8) { return .mov }
      let films = ["mp4", "isom", "iso2", "iso4", "iso5", "iso6", "avc1", "M4V", "3gp", "dash"]
      return films.contains { has($0, at: 8) } ? .mp4 : nil
    }
    // QuickTime before it had a type: the first atom is the film, or room.
    return ["moov", "mdat", "wide"].contains { has($0, at: 4) } ? .mov : nil
  }
}

/// A name that is safe on every file system, made of one that may be anything.
package enum SafeName {
  /// Bytes of one part of a name: three of them and a number fit into 255.
  private static let most = 80
  /// Names that Windows keeps for devices, whatever their extension.
  private static let devices: Set<String> = {
    let numbered = (0...9).flatMap { ["com\($0)", "lpt\($0)"] }
    return Set(["con", "prn", "aux", "nul"] + numbered)
  }()

  /// Letters, digits and underscores of the text; whatever else it has becomes an underscore.
  ///
  /// - Parameter others: names that were made so far, as ``folded(_:)`` has them. The name gets a number where it
  ///   would be one of them on a file system that ignores case, and is added.
  package static func make(of text: String, besides others: inout Set<String>) -> String {
    var name = ""
    for scalar in text.unicodeScalars {
      let isKept = scalar == "_" || scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
      let piece = isKept ? String(scalar) : "_"
      guard name.utf8.count + piece.utf8.count <= most else { break }
      name += piece
    }
    if name.isEmpty || devices.contains(name.lowercased()) { name += "_" }
    var result = name
    var number = 2
    while !others.insert(folded(result)).inserted {
      result = "\(name)_\(number)"
      number += 1
    }
    return result
  }

  /// What of a name counts where case, marks and forms of one character are the same.
  private static func folded(_ name: String) -> String {
    let upper = name.unicodeScalars.reduce(into: "") { $0 += $1.properties.uppercaseMapping }
    return upper.unicodeScalars.reduce(into: "") { $0 += $1.properties.lowercaseMapping }
  }
}

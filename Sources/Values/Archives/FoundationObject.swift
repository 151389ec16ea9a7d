/// What the archived objects of Foundation's value classes mean.
///
/// The keys are those that NSKeyedArchiver is seen to write; none is documented.
enum FoundationObject {
  static func value(of object: ArchivedObject) -> ArchivedValue? {
    let archive = object.archive
    switch object.className {
    case "NSNull": return .null
    case "NSString", "NSMutableString": return text(object)
    case "NSMutableData", "NSData":
      for key in ["NS.data", "NS.bytes"] {
        if case .data(let bytes) = object[key] { return .data(bytes) }
      }
      return nil
    case "NSDate":
      switch object["NS.time"] {
      case .real(let seconds), .date(let seconds): return .date(seconds)
      case .integer(let seconds): return .date(Double(seconds))
      default: return nil
      }
    case "NSUUID":
      guard case .data(let bytes) = object["NS.uuidbytes"], bytes.count == 16 else { return nil }
      return .uuid(bytes)
    case "NSURL":
      guard let relative = object["NS.relative"].string else { return nil }
      // Only a base of plain text is joined: bases of bases could go on in a circle.
      guard let base = object["NS.base"].object?["NS.relative"].string else {
        return .url(relative)
      }
      return .url(base + relative)
    case "NSNumber": return number(object)
    // The archiver substitutes the class cluster's placeholder.
    case "NSDecimalNumber", "NSDecimalNumberPlaceholder": return decimal(object)
    case "NSArray", "NSMutableArray":
      return object.fields["NS.objects"]?.array.map { .array(archive.references($0)) }
    case "NSSet", "NSMutableSet": return members(object).map { .set($0) }
    case "NSOrderedSet", "NSMutableOrderedSet": return members(object).map { .array($0) }
    case "NSDictionary", "NSMutableDictionary":
      guard let keys = object.fields["NS.keys"]?.array,
        let values = object.fields["NS.objects"]?.array
      else { return nil }
      return .dictionary(
        zip(archive.references(keys), archive.references(values)).map { (key: $0, value: $1) })
    case "NSKnownKeysDictionary", "NSKnownKeysDictionary1": return knownKeys(object)
    default: return nil
    }
  }

  private static func text(_ object: ArchivedObject) -> ArchivedValue? {
    if case .string(let text) = object["NS.string"] { return .string(text) }
    guard case .data(let bytes) = object["NS.bytes"] else { return nil }
    return .string(String(decoding: bytes, as: UTF8.self))
  }

  private static func number(_ object: ArchivedObject) -> ArchivedValue? {
    ["NS.boolval", "NS.intval", "NS.dblval", "NS.longlongval"].first(where: object.has)
      .map { object[$0] }
  }

  /// Core Data's dictionary with fixed keys, which the model cache keeps its entities in: a list of
  /// values, and a list of keys in its mapping. A slot that holds the token is empty.
  private static func knownKeys(_ object: ArchivedObject) -> ArchivedValue? {
    guard let mapping = object["searchMapping"].object else { return nil }
    let emptyToken = object["emptyToken"].string ?? "__empty_slot_token_4c24_98dc_ac1e_b773__"
    let keys = mapping["keys"].references
    let values = object["values"].references
    return .dictionary(
      zip(keys, values).filter { $1.value.string != emptyToken }.map { (key: $0, value: $1) })
  }

  /// The elements of a set: a list, or in its older form one field for each.
  private static func members(_ object: ArchivedObject) -> [ArchivedReference]? {
    if let values = object.fields["NS.objects"]?.array { return object.archive.references(values) }
    var result: [ArchivedReference] = []
    while let raw = object.fields["NS.object.\(result.count)"] {
      result.append(ArchivedReference(archive: object.archive, raw: raw))
    }
    return result.isEmpty ? nil : result
  }

  /// NSDecimal: up to eight 16-bit words of mantissa, little end first, and a power of ten.
  private static func decimal(_ object: ArchivedObject) -> ArchivedValue? {
    guard case .data(let mantissa) = object["NS.mantissa"],
      let exponent = object["NS.exponent"].integer,
      let length = object["NS.length"].integer, (0...8).contains(length), mantissa.count >= 16,
      (-256...256).contains(exponent)
    else { return nil }
    let isNegative = object["NS.negative"].boolean ?? false
    // A mantissa without words is zero, or not a number when the sign is set.
    guard length > 0 else { return .decimal(isNegative ? "NaN" : "0") }
    let isBigEndian = object["NS.mantissa.bo"].integer == 2
    var words: [UInt32] = []
    for index in 0..<Int(length) {
      let (first, second) = (UInt32(mantissa[index * 2]), UInt32(mantissa[index * 2 + 1]))
      words.append(isBigEndian ? first << 8 | second : second << 8 | first)
    }
    return .decimal(
      DecimalText.text(words: words, exponent: Int(exponent), isNegative: isNegative))
  }
}

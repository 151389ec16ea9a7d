/// Which numbers a property has, as far as its name shows.
package struct NumberTopic: Sendable, Equatable {
  package var range: ClosedRange<Double>
  /// Digits behind the point.
  var digits = 0
  /// Whether small numbers are more frequent than great ones.
  var isSkewed = false
  /// Whether it looks like the number of a case: few numbers, and most have the default.
  var isCase = false

  /// The topic of a number.
  init(_ property: String, isWhole: Bool) {
    let name = NameWords(property)
    self = isWhole ? Self.whole(name) : Self.real(name)
  }

  private init(
    _ range: ClosedRange<Double>, digits: Int = 0, skewed: Bool = false, isCase: Bool = false
  ) {
    self.range = range
    self.digits = digits
    isSkewed = skewed
    self.isCase = isCase
  }

  private static func whole(_ name: NameWords) -> NumberTopic {
    if name.ends(
      in: "type", "kind", "state", "status", "mode", "style", "flag", "flags", "phase",
      "role", "reason", "scope", "policy")
    {
      return NumberTopic(0...3, skewed: true, isCase: true)
    }
    if name.has("age") { return NumberTopic(1...95) }
    if name.has("year") { return NumberTopic(1950...2026) }
    if name.has("month") { return NumberTopic(1...12) }
    if name.has("day", "weekday") { return NumberTopic(1...7) }
    if name.has("hour") { return NumberTopic(0...23) }
    if name.has("rating", "stars") { return NumberTopic(1...5) }
    if name.has("percent", "percentage", "progress", "score", "quality", "confidence") {
      return NumberTopic(0...100)
    }
    if name.has("timestamp", "date") { return NumberTopic(1_500_000_000...1_760_000_000) }
    if name.has("color", "colour") { return NumberTopic(0...16_777_215) }
    if name.has("hash", "seed", "checksum") { return NumberTopic(-2_147_483_648...2_147_483_647) }
    if name.has("views", "likes", "downloads", "plays", "followers", "visits") {
      return NumberTopic(0...50_000, skewed: true)
    }
    if name.has("bytes", "size", "filesize") { return NumberTopic(200...8_000_000, skewed: true) }
    if name.has("width", "height") { return NumberTopic(16...4096) }
    if name.has("minutes", "duration", "seconds", "interval", "time") {
      return NumberTopic(1...3600, skewed: true)
    }
    if name.has("price", "cents", "cost", "total", "amount") {
      return NumberTopic(99...49_999, skewed: true)
    }
    if name.has("position", "index", "order", "rank", "priority", "level", "sort", "sequence") {
      return NumberTopic(0...40)
    }
    if name.ends(in: "count", "quantity", "number", "pages", "copies", "items", "attempts") {
      return NumberTopic(0...40, skewed: true)
    }
    if name.has("version", "revision") { return NumberTopic(1...12) }
    if name.has("id", "identifier", "pk", "key") { return NumberTopic(1000...9_999_999) }
    return NumberTopic(0...1000, skewed: true)
  }

  private static func real(_ name: NameWords) -> NumberTopic {
    if name.has("latitude", "lat") { return NumberTopic(-60...70, digits: 6) }
    if name.has("longitude", "lon", "lng", "long") { return NumberTopic(-180...180, digits: 6) }
    if name.has("price", "cost", "total", "amount", "balance", "fee", "tax", "salary", "subtotal") {
      return NumberTopic(0.5...499.99, digits: 2, skewed: true)
    }
    if name.has("rating", "stars") { return NumberTopic(0...5, digits: 1) }
    if name.has(
      "progress", "ratio", "alpha", "opacity", "red", "green", "blue", "fraction",
      "confidence", "probability", "volume", "brightness")
    {
      return NumberTopic(0...1, digits: 3)
    }
    if name.has("percent", "percentage", "score") { return NumberTopic(0...100, digits: 1) }
    if name.has("temperature") { return NumberTopic(-20...40, digits: 1) }
    if name.has("weight", "mass") { return NumberTopic(0.1...120, digits: 2) }
    if name.has("height", "width", "x", "y", "length", "distance", "radius") {
      return NumberTopic(0...2000, digits: 1)
    }
    if name.has("duration", "interval", "seconds", "time") {
      return NumberTopic(0.5...7200, digits: 2, skewed: true)
    }
    if name.has("timestamp", "date") { return NumberTopic(567_993_600...788_918_400, digits: 3) }
    return NumberTopic(0...1000, digits: 2, skewed: true)
  }

  /// The topic within bounds; those of the rules where it has nothing in common with them.
  package func bounded(least: Double?, most: Double?) -> NumberTopic {
    var bounded = self
    let low = max(range.lowerBound, least ?? range.lowerBound)
    let high = min(range.upperBound, most ?? range.upperBound)
    if low <= high {
      bounded.range = low...high
    } else if let least {
      bounded.range = least...max(least, min(most ?? .infinity, least + 1000))
    } else if let most {
      bounded.range = (most - 1000)...most
    }
    return bounded
  }

  /// One of the whole numbers, the first and the last as often as the others.
  func whole(using random: inout SeededGenerator) -> Int64 {
    let (low, high) = (range.lowerBound.rounded(.up), range.upperBound.rounded(.down))
    let unit = random.unit()
    let number = (low + (high - low + 1) * (isSkewed ? unit * unit : unit)).rounded(.down)
    let bounded = max(low, min(number, high))
    return Int64(exactly: bounded) ?? (bounded < 0 ? .min : .max)
  }

  /// One of the numbers, not rounded.
  func number(using random: inout SeededGenerator) -> Double {
    let unit = random.unit()
    let width = range.upperBound - range.lowerBound
    return range.lowerBound + width * (isSkewed ? unit * unit : unit)
  }
}

/// When something happened to an object, as far as the name of a date shows.
package enum DateTopic: Sendable, Equatable {
  case birth, created, changed, later

  init(_ property: String) {
    let name = NameWords(property)
    if name.has("birth", "born", "birthday", "birthdate", "dob") {
      self = .birth
    } else if name.has(
      "created", "creation", "added", "start", "begin", "joined", "published",
      "ordered", "captured", "inserted")
    {
      self = .created
    } else if name.has(
      "updated", "modified", "changed", "last", "edited", "end", "finished",
      "completed", "visited", "synced", "saved", "accessed")
    {
      self = .changed
    } else {
      self =
        name.has("due", "expires", "expiry", "expiration", "deadline", "until", "next", "renewal")
        ? .later : .created
    }
  }
}

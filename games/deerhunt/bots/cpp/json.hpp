// Reads JSON, as much of it as the game writes. No library, so that the bot builds anywhere.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace json {

// A value. Asking for what is not there gives null.
class Value {
public:
    enum Kind { Null, Bool, Number, Text, List, Object };

    Kind kind = Null;
    bool truth = false;             // of a Bool
    double number = 0;              // of a Number; 0 for anything else
    std::string text;               // of a Text; empty for anything else
    std::vector<Value> items;       // of a List, and the values of an Object; empty for anything else
    std::vector<std::string> keys;  // of an Object: keys[i] is that of items[i]

    const Value& operator[](const std::string& key) const {
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (keys[i] == key) return items[i];
        }
        return null();
    }

    const Value& operator[](std::size_t index) const { return kind == List && index < items.size() ? items[index] : null(); }

    bool is_null() const { return kind == Null; }

    int whole() const { return static_cast<int>(number); }

private:
    static const Value& null() {
        static const Value value;
        return value;
    }
};

class Reader {
public:
    explicit Reader(const std::string& text) : text_(text) {}

    Value whole() {
        Value value = read(0);
        space();
        if (at_ != text_.size()) throw wrong("something follows");
        return value;
    }

private:
    static const int DEEPEST = 64;

    const std::string& text_;
    std::size_t at_ = 0;

    std::runtime_error wrong(const std::string& what) const {
        return std::runtime_error("no JSON, at byte " + std::to_string(at_) + ": " + what);
    }

    char peek() const {
        if (at_ >= text_.size()) throw wrong("it ends too early");
        return text_[at_];
    }

    void space() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r' || text_[at_] == '\n')) ++at_;
    }

    bool eat(char wanted) {
        space();
        if (peek() != wanted) return false;
        ++at_;
        return true;
    }

    void need(char wanted) {
        if (!eat(wanted)) throw wrong(std::string("no ") + wanted);
    }

    Value read(int depth) {
        if (depth > DEEPEST) throw wrong("nested too deeply");
        space();
        Value value;
        switch (peek()) {
            case 'n': word("null"); break;
            case 't': word("true"), value.kind = Value::Bool, value.truth = true; break;
            case 'f': word("false"), value.kind = Value::Bool; break;
            case '"': value.text = string(), value.kind = Value::Text; break;
            case '[': case '{': entries(value, depth); break;
            default: number(value);
        }
        return value;
    }

    void word(const std::string& word) {
        if (text_.compare(at_, word.size(), word) != 0) throw wrong("an unknown word");
        at_ += word.size();
    }

    // What stands between two brackets, with commas.
    void entries(Value& value, int depth) {
        bool object = eat('{');
        if (!object) need('[');
        value.kind = object ? Value::Object : Value::List;
        char close = object ? '}' : ']';
        if (eat(close)) return;
        do {
            if (object) {
                space();
                value.keys.push_back(string());
                need(':');
            }
            value.items.push_back(read(depth + 1));
        } while (eat(','));
        need(close);
    }

    void number(Value& value) {
        const char* start = text_.c_str() + at_;
        std::size_t length = text_.find_first_not_of("0123456789-+.eE", at_) - at_;
        if (length > text_.size() - at_) length = text_.size() - at_;
        char* end = nullptr;
        value.number = std::strtod(start, &end);
        if (length == 0 || end != start + length) throw wrong("no number");
        value.kind = Value::Number;
        at_ += length;
    }

    std::string string() {
        if (peek() != '"') throw wrong("no text");
        ++at_;
        std::string out;
        for (;;) {
            char c = peek();
            ++at_;
            if (c == '"') return out;
            if (c != '\\') {
                out += c;
                continue;
            }
            char escaped = peek();
            ++at_;
            switch (escaped) {
                case 'n': out += '\n'; break;
                case 't': out += '\t'; break;
                case 'r': out += '\r'; break;
                case 'b': out += '\b'; break;
                case 'f': out += '\f'; break;
                case 'u': utf8(out, code()); break;
                default: out += escaped;
            }
        }
    }

    // The four digits behind `\u`; half a pair becomes a replacement character.
    std::uint32_t code() {
        std::string digits = text_.substr(at_, 4);
        if (digits.size() < 4 || digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) throw wrong("no character code");
        at_ += 4;
        std::uint32_t code = std::strtoul(digits.c_str(), nullptr, 16);
        return code >= 0xd800 && code < 0xe000 ? 0xfffd : code;
    }

    static void utf8(std::string& out, std::uint32_t code) {
        auto byte = [&](std::uint32_t value) { out += static_cast<char>(value); };
        if (code < 0x80) {
            byte(code);
        } else if (code < 0x800) {
            byte(0xc0 | code >> 6), byte(0x80 | (code & 0x3f));
        } else {
            byte(0xe0 | code >> 12), byte(0x80 | (code >> 6 & 0x3f)), byte(0x80 | (code & 0x3f));
        }
    }
};

// Reads a text; throws std::runtime_error when it is not JSON.
inline Value parse(const std::string& text) { return Reader(text).whole(); }

// A text as JSON writes it.
inline std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (unsigned char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += static_cast<char>(c);
        } else if (c < ' ') {
            const char* digits = "0123456789abcdef";
            out += std::string("\\u00") + digits[c >> 4] + digits[c & 15];
        } else {
            out += static_cast<char>(c);
        }
    }
    return out + '"';
}

}  // namespace json

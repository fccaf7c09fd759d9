import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads JSON, as much of it as the game writes. No library, so that the bot builds anywhere.
 *
 * <p>Objects are {@code Map}, lists {@code List}, numbers {@code Double}; null is null.
 */
public final class Json {
    /** Deeper nesting is refused. */
    private static final int DEEPEST = 64;

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** Reads a text. Throws IllegalArgumentException when it is not JSON. */
    public static Object parse(String text) {
        Json reader = new Json(text);
        Object value = reader.value(0);
        reader.space();
        if (reader.at != text.length()) throw reader.wrong("something follows");
        return value;
    }

    /** What lies at the end of a path of keys and indices; null when it is not there. */
    public static Object at(Object value, Object... path) {
        for (Object step : path) {
            if (value instanceof Map<?, ?> map) {
                value = map.get(step);
            } else if (value instanceof List<?> list && step instanceof Integer index && index >= 0 && index < list.size()) {
                value = list.get(index);
            } else {
                return null;
            }
        }
        return value;
    }

    /** The number; 0 for anything else. */
    public static double number(Object value) {
        return value instanceof Double number ? number : 0;
    }

    /** The text; empty for anything else. */
    public static String text(Object value) {
        return value instanceof String text ? text : "";
    }

    /** The entries of a list; none for anything else. */
    public static List<?> list(Object value) {
        return value instanceof List<?> list ? list : List.of();
    }

    /** A text as JSON. */
    public static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') out.append('\\').append(c);
            else if (c < ' ') out.append(String.format("\\u%04x", (int) c));
            else out.append(c);
        }
        return out.append('"').toString();
    }

    private IllegalArgumentException wrong(String why) {
        return new IllegalArgumentException("not JSON at character " + at + ": " + why);
    }

    private void space() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
    }

    private char peek() {
        if (at >= text.length()) throw wrong("it ends too early");
        return text.charAt(at);
    }

    private boolean eat(char wanted) {
        space();
        if (peek() != wanted) return false;
        at++;
        return true;
    }

    private void need(char wanted) {
        if (!eat(wanted)) throw wrong("expected " + wanted);
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) throw wrong("unknown word");
        at += word.length();
        return value;
    }

    private Object value(int depth) {
        if (depth > DEEPEST) throw wrong("too deep");
        space();
        switch (peek()) {
            case 'n':
                return word("null", null);
            case 't':
                return word("true", true);
            case 'f':
                return word("false", false);
            case '"':
                return string();
            case '[': {
                List<Object> list = new ArrayList<>();
                need('[');
                if (eat(']')) return list;
                do list.add(value(depth + 1)); while (eat(','));
                need(']');
                return list;
            }
            case '{': {
                Map<String, Object> map = new HashMap<>();
                need('{');
                if (eat('}')) return map;
                do {
                    space();
                    String key = string();
                    need(':');
                    map.put(key, value(depth + 1));
                } while (eat(','));
                need('}');
                return map;
            }
            default:
                return digits();
        }
    }

    private Double digits() {
        int start = at;
        while (at < text.length() && "0123456789-+.eE".indexOf(text.charAt(at)) >= 0) at++;
        if (at == start) throw wrong("no value");
        try {
            return Double.valueOf(text.substring(start, at));
        } catch (NumberFormatException error) {
            throw wrong("no number");
        }
    }

    private String string() {
        need('"');
        StringBuilder out = new StringBuilder();
        while (true) {
            char c = peek();
            at++;
            if (c == '"') return out.toString();
            if (c != '\\') {
                out.append(c);
                continue;
            }
            char escaped = peek();
            at++;
            switch (escaped) {
                case 'n' -> out.append('\n');
                case 't' -> out.append('\t');
                case 'r' -> out.append('\r');
                case 'b' -> out.append('\b');
                case 'f' -> out.append('\f');
                case 'u' -> {
                    if (at + 4 > text.length()) throw wrong("it ends too early");
                    try {
                        out.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
                    } catch (NumberFormatException error) {
                        throw wrong("no character code");
                    }
                    at += 4;
                }
                default -> out.append(escaped);
            }
        }
    }
}

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;

/**
 * Plays Jungle Blitz over WebSocket, which is part of Java. What it decides is in Brain.java.
 *
 * <p>{@code java -jar bot.jar --lines} speaks the same messages over standard input and output, one per line: with a pipe
 * instead of a socket there is less between you and a debugger.
 */
final class Bot {
    private Bot() {}

    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 0 && arguments[0].equals("--lines")) {
            overLines();
        } else {
            overWebSocket(System.getenv().getOrDefault("AGON_ADDRESS", "ws://127.0.0.1:8765"));
        }
    }

    /** The first message. A server that knows its teams gives each a token. */
    static String register() {
        String token = System.getenv("TOKEN");
        String who = token != null ? "\"token\":" + Json.quoted(token) : "\"teamName\":\"Java keeper\"";
        return "{\"type\":\"REGISTER\"," + who + "}";
    }

    /** The answer to a TICK message. */
    static String answer(String message) {
        Game.Tick tick = new Game.Tick(message);
        String actions = Brain.decide(tick).stream().map(Game.Action::json).collect(Collectors.joining(","));
        return "{\"type\":\"COMMAND\",\"tick\":" + tick.number + ",\"actions\":[" + actions + "]}";
    }

    private static void overLines() throws Exception {
        System.out.println(register());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) System.out.println(answer(line));
    }

    private static void overWebSocket(String address) throws InterruptedException {
        CountDownLatch over = new CountDownLatch(1);
        WebSocket.Listener listener = new WebSocket.Listener() {
            private final StringBuilder message = new StringBuilder();

            @Override
            public void onOpen(WebSocket socket) {
                socket.sendText(register(), true);
                socket.request(1);
            }

            @Override
            public CompletionStage<?> onText(WebSocket socket, CharSequence part, boolean last) {
                message.append(part); // a long message comes in parts
                if (!last) {
                    socket.request(1);
                    return null;
                }
                String whole = message.toString();
                message.setLength(0);
                try {
                    socket.sendText(answer(whole), true).thenRun(() -> socket.request(1));
                } catch (RuntimeException error) {
                    error.printStackTrace(); // or nobody would hear of it
                    System.exit(1);
                }
                return null;
            }

            @Override
            public CompletionStage<?> onClose(WebSocket socket, int status, String reason) {
                over.countDown(); // the match is over
                return null;
            }

            @Override
            public void onError(WebSocket socket, Throwable error) {
                over.countDown(); // the server is gone
            }
        };
        try {
            HttpClient.newHttpClient().newWebSocketBuilder().buildAsync(URI.create(address), listener).join();
        } catch (CompletionException error) {
            System.err.println("no connection to " + address);
            System.exit(1);
        }
        over.await();
        System.exit(0); // the client's threads would linger
    }
}
